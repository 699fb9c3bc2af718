"""Parts opened in this process, shared by the versions that name them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.compute as pc

from geocast.errors import InputError, StateError
from geocast.match.matcher import Matcher
from geocast.snapshot.numbers import Numbers
from geocast.snapshot.release import release_with

__all__ = ["OpenPart", "empty_part", "open_parts"]

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
        self._vnumbers: Numbers = pc.cast(matchers[0].ids, pa.int64()).to_numpy(
            zero_copy_only=False
        )
        release_with(self, matchers)

    def answer(self, batch: pa.RecordBatch) -> tuple[Numbers, Numbers, dict[int, str]]:
        """Return rows, the version numbers that they match, and why some rows cannot be used."""
        with self._one_at_a_time:
            found = self._held[0].pairs(batch)
        return found.row, self._vnumbers[found.subscription], found.reasons


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
