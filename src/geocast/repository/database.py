"""One database: its connections, and how transactions begin."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError

from geocast.errors import InputError

__all__ = ["Database"]

_PATIENCE: Final = 30.0
_WRITES: Final = "geocast_writes"


class Database:
    """Gives out connections, from any thread; SQLite, in one file that several processes share.

    Writers wait for each other when they begin, so that none of them finds out later that what
    it read has changed.
    """

    def __init__(self, url: str) -> None:
        parsed = _parsed(url)
        _make_folder(Path(str(parsed.database)).parent)
        self._engine = _engine(parsed)
        self._writing = self._engine.execution_options(**{_WRITES: True})
        # Waiting for a lock inside a process is quicker than polling SQLite's.
        self._turn = Lock()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is the only one to write; undone if the block raises."""
        with self._turn, self._writing.begin() as connection:
            yield connection

    def peek(self, statement: str) -> Any:
        """Return the one value that a statement gives, at a fraction of a transaction's cost."""
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            (value,) = cursor.fetchone() or (None,)
        finally:
            connection.close()
        return value

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InputError(f"{url!r} is not the URL of a repository: sqlite:///FILE") from None
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        where = parsed.render_as_string(hide_password=True)
        raise InputError(f"{where!r}: a repository is kept in a file, sqlite:///FILE")
    return parsed


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder of the repository cannot be made: {error}") from error


def _engine(url: URL) -> Engine:
    engine = create_engine(url, pool_size=8, max_overflow=56, pool_timeout=_PATIENCE)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {int(_PATIENCE * 1000)}")
    _use_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -8192")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")


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


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:  # waits for nobody, and most transactions are short reads
        connection.connection.cursor().execute("BEGIN")
