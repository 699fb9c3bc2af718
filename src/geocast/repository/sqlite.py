"""The embedded database: SQLite, in one file that the processes of a machine share."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL, Engine

from geocast.errors import InputError, UnavailableError
from geocast.repository.address import shown
from geocast.repository.database import Database

__all__ = ["SqliteDatabase"]

_PATIENCE: Final = 30.0
_AGAIN_SECONDS: Final = 0.001
_READERS: Final = 64
_CACHE_OF_READERS: Final = 4 << 20
_CACHE_OF_WRITER: Final = 64 << 20
_PAGES_BEFORE_CHECKPOINT: Final = 16_000


class SqliteDatabase(Database):
    """Writers wait for each other when they begin: one at a time, which so needs no locks."""

    def __init__(self, url: URL) -> None:
        super().__init__(shown(url), patience=0.0)
        _make_folder(Path(str(url.database)).parent)
        self._reading = _engine(url, "BEGIN", _READERS, _CACHE_OF_READERS)
        self._writing = _engine(url, "BEGIN IMMEDIATE", 1, _CACHE_OF_WRITER)
        self._relaxed = _engine(url, "BEGIN IMMEDIATE", 1, _CACHE_OF_WRITER, "NORMAL")
        self._turn = _Turn(Path(f"{url.database}-turn"), self.name)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with self._reading.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction that is the only one to write; others wait before they begin.

        One that need not be durable does not wait for the disk.
        """
        engine = self._writing if durable else self._relaxed
        with self._turn, engine.begin() as connection:
            yield connection

    def peek(self, statement: str) -> Any:
        """Return the one value that a statement gives, at a fraction of a transaction's cost."""
        connection = self._reading.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            (value,) = cursor.fetchone() or (None,)
        finally:
            connection.close()
        return value

    def close(self) -> None:
        """Close the connections."""
        self._reading.dispose()
        self._writing.dispose()
        self._relaxed.dispose()
        self._turn.close()


class _Turn:
    """The right to write, among the threads of all processes.

    SQLite's own way to wait is to look again after ever longer pauses, up to a tenth of a second:
    who writes seldom would hardly get between those who write all the time.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self._threads = Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._let_go = weakref.finalize(self, os.close, self._file)

    def __enter__(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        if not self._threads.acquire(timeout=_PATIENCE):
            raise self._too_long()
        try:
            while not self._taken():
                if time.monotonic() > deadline:
                    raise self._too_long()
                time.sleep(_AGAIN_SECONDS)
        except BaseException:
            self._threads.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _too_long(self) -> UnavailableError:
        said = f"{self._name}: others have been writing to it for {_PATIENCE:.0f} s"
        return UnavailableError(f"{said}; is one of the processes stopped?", undone=True)

    def close(self) -> None:
        """Let go of the file, when nobody writes any more."""
        with self._threads:
            self._let_go()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder of the repository cannot be made: {error}") from error


def _engine(
    url: URL, begin: str, connections: int, cache: int, synchronous: str = "FULL"
) -> Engine:
    """Connections that begin their transactions so; each has a cache of so many bytes."""
    kept = min(connections, 8)
    engine = create_engine(
        url,
        pool_size=kept,
        max_overflow=connections - kept,
        pool_timeout=_PATIENCE,
        hide_parameters=True,
    )

    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {int(_PATIENCE * 1000)}")
        _use_write_ahead_log(connection)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = {-cache // 1024}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")

    def start(connection: Connection) -> None:
        connection.connection.cursor().execute(begin)

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", start)
    return engine


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch a new file over; SQLite does not wait here by itself if others do the same."""
    patient_until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > patient_until:
                raise
            time.sleep(0.01)
        else:
            return
