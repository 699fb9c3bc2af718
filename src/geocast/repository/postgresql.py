"""The shared database: PostgreSQL, which any number of processes and machines use together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from psycopg import Error, OperationalError
from psycopg.errors import (
    DeadlockDetected,
    IdleInTransactionSessionTimeout,
    SerializationFailure,
)
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from geocast.errors import UnavailableError
from geocast.operate import this_process
from geocast.repository.address import shown
from geocast.repository.database import Database
from geocast.repository.locks import sign

__all__ = ["CONNECTIONS", "PostgresDatabase"]

CONNECTIONS: Final = 16
"""How many connections a process keeps at most, where nothing else is said."""

_PATIENCE: Final = 30.0
_FAILURES: Final = (DBAPIError, Error, PoolTimeout)
_PASSING: Final = (OperationalError, IdleInTransactionSessionTimeout, PoolTimeout)
_CONFLICTS: Final = (DeadlockDetected, SerializationFailure)

# All that is asked is looked up by keys, as SQLite would do it. The planner would rather read whole
# tables where its statistics lag behind: those of mailboxes do, which fill and empty all the time.
_PLANS: Final = ("seqscan", "bitmapscan", "hashjoin", "mergejoin")

# What the URL does not say. A process that is stopped in the middle of a transaction loses it
# before those who wait for its locks give up; a server that is gone without a word is noticed.
_DEFAULTS: Final = {
    "application_name": "geocast",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

_OPTIONS: Final = " ".join(
    [
        "-c lock_timeout=30s -c jit=off",
        *(f"-c enable_{plan}=off" for plan in _PLANS),
    ]
)


# Whoever is stopped in the middle of writing holds locks that all others wait for.
_IDLE_READING: Final = "20s"
_IDLE_WRITING: Final = "8s"


class PostgresDatabase(Database):
    """Connections are kept, and looked at before they are used: a restart is hardly noticed.

    Those who read see one state (REPEATABLE READ). Those who write see what is committed when
    each statement begins (READ COMMITTED), so that what is read after a lock was waited for is
    what its last holder left. Every transaction is on disk before it returns, since the death
    of the server would undo it otherwise.
    """

    def __init__(self, url: URL, *, patience: float = 0.0, connections: int = CONNECTIONS) -> None:
        super().__init__(shown(url), patience)
        # A process that waits to write with all its connections could not read any more.
        writers = max(1, connections // 4)
        readers = max(1, connections - writers)
        self._reading = _engine(url, "REPEATABLE READ", readers, _IDLE_READING)
        self._writing = _engine(url, "READ COMMITTED", writers, _IDLE_WRITING)
        event.listen(self._reading, "connect", _only_read)
        event.listen(self._writing, "connect", _sign)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with self._translated(), self._reading.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction that may write; undone if the block raises."""
        ends = False
        try:
            with self._writing.begin() as connection:
                yield connection
                ends = True
        except _FAILURES as error:
            self._raise_if_passing(error, undone=not ends)
            raise

    def peek(self, statement: str) -> Any:
        """Return the one value that a statement gives, at a fraction of a transaction's cost."""
        with self._translated(), self._reading.connect() as connection:
            single = connection.execution_options(isolation_level="AUTOCOMMIT")
            return single.exec_driver_sql(statement).scalar()

    def close(self) -> None:
        """Close the connections."""
        self._reading.dispose()
        self._writing.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except _FAILURES as error:
            self._raise_if_passing(error, undone=True)
            raise

    def _raise_if_passing(self, error: Exception, *, undone: bool) -> None:
        """Raise UnavailableError for what callers may hope to pass."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, _PASSING):
            reason = " ".join(str(cause).split())
            raise UnavailableError(
                f"the repository {self.name} cannot be used now: {reason}",
                undone=undone,
                conflict=isinstance(cause, _CONFLICTS),
            ) from error


def _engine(url: URL, isolation: Any, connections: int, idle: str) -> Engine:
    said = {name: value for name, value in _DEFAULTS.items() if name not in url.query}
    patience = f"-c idle_in_transaction_session_timeout={idle}"
    # Of two options of a name the later counts: that of the URL.
    said["options"] = f"{_OPTIONS} {patience} {url.query.get('options', '')}"
    return create_engine(
        url,
        isolation_level=isolation,
        # To make a connection costs more than to keep it; it is made when it is needed first.
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_PATIENCE,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args=said,
    )


def _only_read(connection: Any, _: Any) -> None:
    connection.read_only = True


def _sign(connection: Any, _: Any) -> None:
    sign(connection, this_process())
