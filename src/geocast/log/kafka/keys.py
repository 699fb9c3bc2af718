"""Which keys a topic holds, and where each stands: a table beside the topic.

It is a view of the topic and nothing else: a file that is lost is made again by reading the topic,
and every machine may have one of its own. Whether a record repeats an earlier one follows from
the topic alone, so a batch that runs again decides alike: what the topic has cut off counts no
more, whether or not a table still has it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

import pyarrow as pa

from geocast.log.base import Position
from geocast.log.transactions import transaction

__all__ = ["KeyTable"]

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS place (
    digest BLOB NOT NULL,
    partition INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (digest, partition, offset)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS place_offset ON place (partition, offset);
CREATE TABLE IF NOT EXISTS entered (partition INTEGER PRIMARY KEY, offset INTEGER NOT NULL);
"""
_INSERT: Final = "INSERT OR IGNORE INTO place VALUES (?, ?, ?, ?)"
_LET_GO: Final = """
DELETE FROM place WHERE partition = :partition AND offset < min(:start,
    (SELECT min(offset) FROM place WHERE partition = :partition) + :count)
"""
_BUSY_SECONDS: Final = 30.0
_BETWEEN_SECONDS: Final = 0.05
_LOOK_SECONDS: Final = 60.0

Read = Callable[[int, int, int], pa.RecordBatch]
"""Gives records of a partition in [start, stop), the first of them at least if there is one."""


class KeyTable:
    """The keys of one topic, in one file; threads and processes may share it.

    `starts` gives the earliest offset that the topic keeps, for each partition.
    """

    def __init__(self, file: Path, read: Read, starts: Callable[[], Sequence[int]]) -> None:
        self._file = file
        self._read = read
        self._starts = starts
        self._cut: Sequence[int] = ()
        self._look_at = 0.0
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None

    def known(self, keys: Iterable[str]) -> dict[str, Position]:
        """Return where those of the keys stand first that the topic holds."""
        by_digest = {_digest(key).hex(): key for key in keys}
        sql = (
            "SELECT lower(hex(digest)), partition, offset, time FROM place WHERE digest IN "
            "(SELECT unhex(value) FROM json_each(?)) ORDER BY offset DESC"
        )
        with self._transaction("BEGIN") as connection:
            rows = connection.execute(sql, (json.dumps(list(by_digest)),)).fetchall()
        starts = self._starts() if rows else ()
        return {
            by_digest[digest]: Position(partition, offset, time, False)
            for digest, partition, offset, time in rows
            if offset >= starts[partition]
        }

    def reach(self, ends: Sequence[int]) -> None:
        """Have the table hold all keys before these offsets, one for each partition."""
        for partition, end in enumerate(ends):
            with self._transaction("BEGIN") as connection:
                start = _upto(connection, partition)
            while start < end:
                batch = self._read(partition, start, end)
                start = batch.column("offset")[-1].as_py() + 1 if batch.num_rows else end
                self._enter(batch, partition, start)

    def add(self, keys: Sequence[str], positions: Sequence[Position]) -> None:
        """Enter records that were just appended."""
        entries = zip(keys, positions, strict=True)
        rows = [(_digest(key), at.partition, at.offset, at.time) for key, at in entries]
        spans: dict[int, list[int]] = {}
        for at in positions:
            spans.setdefault(at.partition, []).append(at.offset)
        with self._transaction("BEGIN IMMEDIATE") as connection:
            connection.executemany(_INSERT, rows)
            for partition, offsets in spans.items():
                whole = max(offsets) - min(offsets) + 1 == len(offsets)
                if whole and _upto(connection, partition) == min(offsets):
                    _move(connection, partition, max(offsets) + 1)

    def repeats(self, records: pa.RecordBatch) -> list[bool]:
        """Tell which records of one partition, in order, have a key that stands before them."""
        if not records.num_rows:
            return []
        partition = records.column("partition")[0].as_py()
        offsets = records.column("offset").to_pylist()
        ends = [0] * partition + [offsets[0]]
        self.reach(ends)
        self._enter(records, partition, offsets[-1] + 1)
        self._let_go(partition, 2 * len(offsets))
        keys = records.column("key").to_pylist()
        firsts = self._firsts(partition, keys)
        if any(firsts.get(key, at) < at for key, at in zip(keys, offsets, strict=True)):
            firsts = self._firsts(partition, keys, self._starts()[partition])
        return [firsts.get(key, at) < at for key, at in zip(keys, offsets, strict=True)]

    def forget(self, starts: Sequence[int]) -> None:
        """Drop the keys whose records have left the topic."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            sql = "DELETE FROM place WHERE partition = ? AND offset < ?"
            connection.executemany(sql, list(enumerate(starts)))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _let_go(self, partition: int, most: int) -> None:
        """Forget a few keys that the topic has cut off: on a machine where nobody else does."""
        if time.monotonic() >= self._look_at:
            self._cut, self._look_at = self._starts(), time.monotonic() + _LOOK_SECONDS
        if start := self._cut[partition]:
            row = {"partition": partition, "start": start, "count": most}
            with self._transaction("BEGIN IMMEDIATE") as connection:
                connection.execute(_LET_GO, row)

    def _firsts(self, partition: int, keys: Sequence[str], start: int = 0) -> dict[str, int]:
        """Return where keys stand first, from an offset on."""
        by_digest = {_digest(key).hex(): key for key in keys}
        sql = (
            "SELECT lower(hex(digest)), min(offset) FROM place WHERE partition = ? AND offset >= ?"
            " AND digest IN (SELECT unhex(value) FROM json_each(?)) GROUP BY digest"
        )
        with self._transaction("BEGIN") as connection:
            rows = connection.execute(sql, (partition, start, json.dumps(list(by_digest))))
            return {by_digest[digest]: offset for digest, offset in rows}

    def _enter(self, batch: pa.RecordBatch, partition: int, upto: int) -> None:
        names = ("key", "partition", "offset", "time")
        columns = [batch.column(name).to_pylist() for name in names]
        rows = [(_digest(key), *place) for key, *place in zip(*columns, strict=True)]
        with self._transaction("BEGIN IMMEDIATE") as connection:
            connection.executemany(_INSERT, rows)
            if _upto(connection, partition) < upto:
                _move(connection, partition, upto)

    def _transaction(self, begin: str) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._file, self._lent(), begin)

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._connection()

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._file, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
            )
            connection.create_function("unhex", 1, bytes.fromhex, deterministic=True)
            with closing(connection.cursor()) as cursor:
                _use_wal(cursor)
                # What a loss of power takes away is read from the topic again.
                cursor.execute("PRAGMA synchronous = NORMAL")
                cursor.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            self._opened = connection
        return self._opened


def _use_wal(cursor: sqlite3.Cursor) -> None:
    """Switch to the journal that readers need not wait for; nobody waits while another does."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_BETWEEN_SECONDS)


def _upto(connection: sqlite3.Connection, partition: int) -> int:
    sql = "SELECT offset FROM entered WHERE partition = ?"
    row = connection.execute(sql, (partition,)).fetchone()
    return int(row[0]) if row else 0


def _move(connection: sqlite3.Connection, partition: int, offset: int) -> None:
    connection.execute("INSERT OR REPLACE INTO entered VALUES (?, ?)", (partition, offset))


def _digest(key: str) -> bytes:
    return blake2b(key.encode(errors="surrogatepass"), digest_size=16).digest()
