"""Parts opened in this process, shared by the versions that name them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geocast.errors import InputError, StateError
from geocast.match.matcher import Matcher
from geocast.snapshot.batch import Batch
from geocast.snapshot.numbers import Numbers
from geocast.snapshot.release import release_with

__all__ = ["OpenPart", "empty_part", "open_parts"]

Pairs = tuple[Numbers, Numbers]
"""Rows of the batch, and the version numbers that they match."""

_VERSIONS_KEPT: Final = 2

_lock = threading.Lock()
_open: WeakValueDictionary[Path, OpenPart] = WeakValueDictionary()
_recent: deque[list[OpenPart]] = deque(maxlen=_VERSIONS_KEPT)


class OpenPart:
    """A matcher whose subscriptions are version numbers; threads may share it."""

    def __init__(self, matchers: list[Matcher]) -> None:
        """Take over the one matcher in the list."""
        self._held = matchers
        self._one_at_a_time = threading.Lock()
        self.properties = matchers[0].properties
        release_with(self, matchers)

    def answer(self, batch: Batch) -> tuple[list[Pairs], dict[int, str]]:
        """Return what matches, in no order, and why rows with an id cannot be used."""
        pairs: list[Pairs] = []
        reasons: dict[int, str] = {}
        for turn in batch.turns(real_ids="id" in self.properties):
            with self._one_at_a_time:
                answer = self._held[0].answer(turn.batch)
            matches = answer.matches
            lists = matches["subscriptions"].combine_chunks()
            rows = turn.rows_of(matches["publication"])
            sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
            numbers = pc.cast(lists.flatten(), pa.int64()).to_numpy(zero_copy_only=False)
            pairs.append((np.repeat(rows, sizes), numbers))
            reasons |= {turn.row_at(place): reason for place, _, reason in answer.rejected}
        return pairs, reasons


@cache
def empty_part() -> OpenPart:
    """Return a part without subscriptions, which still tells what cannot be used."""
    nobody = pa.table({"id": pa.array([], pa.string()), "filter": pa.nulls(0)})
    return OpenPart([Matcher(nobody)])


def open_parts(paths: Sequence[Path]) -> list[OpenPart]:
    """Open the parts of a version; those that are open in this process are used again.

    A part stays open as long as a version in use names it, or one of the last two opened.
    """
    with _lock:
        parts = [_opened(path.absolute()) for path in paths]
        _recent.append(parts)
    return parts


def _opened(path: Path) -> OpenPart:
    part = _open.get(path)
    if part is None:
        try:
            part = OpenPart([Matcher.open(path)])
        except (InputError, OSError, ValueError) as error:
            raise StateError(f"part {path} cannot be opened: {error}") from error
        _open[path] = part
    return part
