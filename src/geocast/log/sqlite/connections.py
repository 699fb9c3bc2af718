"""Connections to one SQLite file: as many as are used at a time, each by one thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from typing import Final
from urllib.parse import quote

from geocast.errors import StateError
from geocast.log.transactions import transaction

__all__ = ["Connections"]

_BUSY_SECONDS: Final = 30.0


class Connections:
    """Transactions on one file, from any number of threads.

    Writers of this process queue at a lock, which is fair and wakes at once; those of other
    processes are waited for by SQLite, which polls. A reader waits for nobody. Errors of SQLite
    become StateError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._guard = Lock()
        self._turn = Lock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction that sees one state of the file."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction that no other writes beside.

        It is committed, and durable, when the block ends; where the block raises, nothing of it
        is written.
        """
        with self._turn, self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Close all connections; those in use are closed as their transactions end."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _transaction(self, begin: str) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._path, self._lent(), begin)

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise StateError(f"{self._path.parent}: the log is closed")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self) -> sqlite3.Connection:
        """Open the file; one that is missing is an error, and not made anew."""
        connection = sqlite3.connect(
            f"file:{quote(str(self._path.absolute()))}?mode=rw",
            uri=True,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection
