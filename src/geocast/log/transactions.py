"""A transaction of SQLite, whose errors say which file they are about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from geocast.errors import StateError

__all__ = ["transaction"]


@contextmanager
def transaction(
    path: Path, lend: AbstractContextManager[sqlite3.Connection], begin: str
) -> Iterator[sqlite3.Connection]:
    """Give a connection that `lend` lends inside a transaction.

    It is committed when the block ends; where the block raises, nothing of it is written. Errors
    of SQLite become StateError.
    """
    try:
        with lend as connection:
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.rollback()
    except sqlite3.Error as error:
        raise StateError(f"{path}: {error}") from error
