"""A partition as one transaction sees it."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

__all__ = ["State", "View"]


@dataclass(frozen=True, slots=True)
class State:
    """The row `state`: see the schema."""

    start: int
    stop: int
    time: int
    upto: int
    dropped: int


class View:
    """The state of a partition, and where in it a time or a number of bytes is reached.

    Valid as long as the transaction of its connection.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        row = connection.execute("SELECT start, stop, time, upto, dropped FROM state").fetchone()
        self.state = State(*row)

    def bytes_before(self, offset: int) -> int:
        """Return the bytes of all records ever that stand before a kept one, or before the end."""
        if offset == self.state.start:
            return self.state.dropped
        return self.state.upto if offset == self.state.stop else self._upto(offset - 1)

    def within(self, start: int, stop: int, max_bytes: int) -> int:
        """Return the end of the longest run from `start` of at most that many bytes.

        It has one record at least, unless [start, stop) is empty.
        """
        if start >= stop:
            return start
        limit = self.bytes_before(start) + max_bytes
        return start + max(1, bisect_right(range(start, stop), limit, key=self._upto))

    def within_before(self, start: int, stop: int, max_bytes: int) -> int:
        """Return the start of the longest run before `stop` of at most that many bytes.

        It begins at `start` or later, and has one record at least, unless [start, stop) is empty.
        """
        if start >= stop:
            return stop
        limit = self.bytes_before(stop) - max_bytes
        found = start + bisect_left(range(start, stop), limit, key=self.bytes_before)
        return min(found, stop - 1)

    def first_since(self, time: int, stop: int) -> int:
        """Return the first offset kept, up to `stop`, whose record is not older than `time`."""
        kept = range(self.state.start, stop)
        return self.state.start + bisect_left(kept, time, key=self._time)

    def _upto(self, offset: int) -> int:
        query = "SELECT upto FROM record WHERE offset = ?"
        return int(self.connection.execute(query, (offset,)).fetchone()[0])

    def _time(self, offset: int) -> int:
        query = "SELECT time FROM record WHERE offset = ?"
        return int(self.connection.execute(query, (offset,)).fetchone()[0])
