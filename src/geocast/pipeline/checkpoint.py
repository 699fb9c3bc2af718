"""What Spark has written down about a stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from geocast.errors import StateError
from geocast.operate import sync

__all__ = ["committed", "make_durable", "planned"]


def make_durable(checkpoint: Path, batch: int) -> None:
    """Have the disk keep what Spark has written down about a batch that is about to run.

    Spark does not wait for that. If the machine died, Spark might plan a batch anew with other
    records, although its matches have been written.
    """
    paths = [checkpoint / "offsets" / str(batch), checkpoint / "offsets"]
    if batch == 0:
        paths += [checkpoint / "metadata", checkpoint]
    for path in paths:
        sync(path)


def committed(checkpoint: Path, partitions: int, but: int = 0) -> list[int]:
    """Return how far Spark has got in each partition, by what it has written down.

    `but` leaves out that many of the last batches.
    """
    done = sorted(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))
    reached = [0] * partitions
    if len(done) > but:
        reached = _ends(checkpoint, done[-1 - but])
    return reached


def planned(checkpoint: Path, batch: int, starts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return what a batch has of the log: partition, and offsets [start, stop), as Spark has it.

    `starts` is where the first batch begins. Raises StateError where Spark's notes are not there.
    """
    try:
        begins = _ends(checkpoint, batch - 1) if batch else starts
        spans = zip(begins, _ends(checkpoint, batch), strict=True)
        return [(number, *span) for number, span in enumerate(spans) if span[0] < span[1]]
    except (OSError, ValueError) as error:
        raise StateError(f"{checkpoint}: what batch {batch} has is not told: {error}") from error


def _ends(checkpoint: Path, batch: int) -> list[int]:
    """Return where a batch ends in each partition."""
    lines = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    offsets = json.loads(lines[-1])["offsets"]
    return [offsets[str(partition)] for partition in range(len(offsets))]
