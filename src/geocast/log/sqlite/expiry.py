"""Which records have to go: by age, and by size over all partitions of a log."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from geocast.log.sqlite.view import View

__all__ = ["cuts"]


def cuts(
    views: Sequence[View], before: int | None, max_bytes: int | None, keep: Sequence[int] | None
) -> list[int]:
    """Return, for each partition, the offset of the first record that stays."""
    limits = [view.state.stop for view in views]
    if keep is not None:
        limits = [
            max(view.state.start, min(limit, kept))
            for view, limit, kept in zip(views, limits, keep, strict=True)
        ]
    times = [before] if before is not None else []
    if max_bytes is not None:
        times.append(_time_for_size(views, limits, max_bytes))
    time = max(times, default=0)
    return [view.first_since(time, limit) for view, limit in zip(views, limits, strict=True)]


def _time_for_size(views: Sequence[View], limits: Sequence[int], max_bytes: int) -> int:
    """Return the time before which everything must go to leave at most that many bytes."""
    excess = sum(view.state.upto - view.state.dropped for view in views) - max_bytes
    newest = max(view.state.time for view in views)

    def dropped_before(time: int) -> int:
        return sum(
            view.bytes_before(view.first_since(time, limit)) - view.state.dropped
            for view, limit in zip(views, limits, strict=True)
        )

    return bisect_left(range(newest + 1), excess, key=dropped_before)
