"""One partition of the embedded log: one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from geocast.errors import StateError
from geocast.log.base import RECORDS, Position, Record
from geocast.log.sqlite.connections import Connections
from geocast.log.sqlite.insert import Entry, insert, known_positions
from geocast.log.sqlite.view import State, View

__all__ = ["Partition"]

_REMEMBERED_BATCHES: Final = 1_000
_DROPPED_AT_ONCE: Final = 5_000
_MAX_READ: Final = 1 << 30
"""Bytes of one answer: an Arrow array of text or binary holds less than 2 GiB."""


class Partition:
    """The records of one partition and what is known about them."""

    def __init__(
        self, number: int, path: Path, unique_keys: bool, clock: Callable[[], int]
    ) -> None:
        self._number = number
        self._path = path
        self._unique_keys = unique_keys
        self._clock = clock
        self._connections = Connections(path)

    @contextmanager
    def view(self) -> Iterator[View]:
        """Give one state of the partition for reading."""
        with self._connections.reading() as connection:
            yield View(connection)

    def append(self, entries: Sequence[Entry]) -> list[Position]:
        """Append the entries whose keys are new, all of them where keys need not be unique."""
        with self._connections.writing() as connection:
            state = View(connection).state
            if not self._unique_keys:
                return self._inserted(connection, state, entries)
            known = known_positions(connection, self._number, entries)
            fresh: dict[str, Entry] = {}
            for entry in entries:
                if entry[1] not in known:
                    fresh.setdefault(entry[1], entry)
            positions = self._inserted(connection, state, list(fresh.values()))
        if len(positions) == len(entries):
            return positions
        new = dict(zip(fresh, positions, strict=True))
        return [self._answer(entry[1], known, new) for entry in entries]

    def write(self, entries: Sequence[Entry], query: str, batch: int, source: int) -> bool:
        """Insert the entries and remember who wrote them, unless that is remembered already."""
        with self._connections.writing() as connection:
            self._check_remembered(connection, query, batch)
            mark = "INSERT OR IGNORE INTO written VALUES (?, ?, ?)"
            if not connection.execute(mark, (query, batch, source)).rowcount:
                return False
            forget = "DELETE FROM written WHERE query = ? AND batch <= ?"
            connection.execute(forget, (query, batch - _REMEMBERED_BATCHES))
            insert(connection, View(connection).state, entries, self._clock())
        return True

    def written(self, query: str, batch: int) -> set[int]:
        """Return the sources that have written here in that batch."""
        sql = "SELECT source FROM written WHERE query = ? AND batch = ?"
        with self._connections.reading() as connection:
            return {source for (source,) in connection.execute(sql, (query, batch))}

    def read(
        self, start: int, stop: int | None, max_records: int, max_bytes: int
    ) -> pa.RecordBatch:
        """Return records in [start, stop) within the bounds."""
        with self.view() as view:
            first = max(start, view.state.start)
            last = view.state.stop if stop is None else min(stop, view.state.stop)
            last = view.within(first, min(last, first + max_records), min(max_bytes, _MAX_READ))
            return self._batch(first, _rows(view, first, last))

    def tail(self, start: int, stop: int, max_records: int, max_bytes: int) -> pa.RecordBatch:
        """Return the last records in [start, stop) within the bounds."""
        with self.view() as view:
            last = min(stop, view.state.stop)
            first = max(start, view.state.start, last - max_records)
            first = view.within_before(first, last, min(max_bytes, _MAX_READ))
            return self._batch(first, _rows(view, first, last))

    def find(self, digest: int, key: str) -> Record | None:
        """Return the earliest record of a key."""
        sql = "SELECT offset, time, value FROM record WHERE digest = ? AND key = ? ORDER BY offset"
        with self._connections.reading() as connection:
            row = connection.execute(sql, (digest, key)).fetchone()
        return None if row is None else Record(self._number, row[0], row[1], key, row[2])

    def drop_before(self, offset: int) -> int:
        """Drop the records before an offset and return how many.

        In several transactions, so that nobody who appends has to wait for long.
        """
        dropped = 0
        while True:
            with self._connections.writing() as connection:
                view = View(connection)
                cut = min(offset, view.state.stop, view.state.start + _DROPPED_AT_ONCE)
                if cut <= view.state.start:
                    return dropped
                update = "UPDATE state SET start = ?, dropped = ?"
                connection.execute(update, (cut, view.bytes_before(cut)))
                connection.execute("DELETE FROM record WHERE offset < ?", (cut,))
            dropped += cut - view.state.start

    def close(self) -> None:
        """Close the file."""
        self._connections.close()

    def _inserted(
        self, connection: sqlite3.Connection, state: State, entries: Sequence[Entry]
    ) -> list[Position]:
        times = insert(connection, state, entries, self._clock())
        return [
            Position(self._number, offset, time, True)
            for offset, time in enumerate(times, start=state.stop)
        ]

    def _answer(self, key: str, known: dict[str, Position], new: dict[str, Position]) -> Position:
        """Return the position of a key; a key is new once in a call."""
        if key in known:
            return known[key]
        position = new[key]
        known[key] = Position(position.partition, position.offset, position.time, False)
        return position

    def _check_remembered(self, connection: sqlite3.Connection, query: str, batch: int) -> None:
        newest = "SELECT max(batch) FROM written WHERE query = ?"
        (last,) = connection.execute(newest, (query,)).fetchone()
        if last is not None and batch <= last - _REMEMBERED_BATCHES:
            raise StateError(
                f"{self._path}: batch {batch} of {query!r} is too old to tell whether it was "
                f"written: the newest is {last}, and {_REMEMBERED_BATCHES} are remembered"
            )

    def _batch(self, first: int, rows: list[tuple[int, str, bytes]]) -> pa.RecordBatch:
        count = len(rows)
        times, keys, values = zip(*rows, strict=True) if rows else ((), (), ())
        columns = [
            pa.array(np.full(count, self._number, dtype=np.int32)),
            pa.array(np.arange(first, first + count, dtype=np.int64)),
            pa.array(times, type=pa.int64()),
            pa.array(keys, type=pa.string()),
            pa.array(values, type=pa.binary()),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=RECORDS)


def _rows(view: View, first: int, last: int) -> list[tuple[int, str, bytes]]:
    sql = "SELECT time, key, value FROM record WHERE offset >= ? AND offset < ? ORDER BY offset"
    return view.connection.execute(sql, (first, last)).fetchall()
