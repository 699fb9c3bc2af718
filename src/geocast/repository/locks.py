"""Who waits for whom when several processes write.

SQLite has one writer at a time, so nothing here does anything there. PostgreSQL has many; they
read what is committed, and lock first what they must be alone with. In this order, so that no two
of them wait for each other:

1. the row of an account: shared by what is added for it, alone by what removes it;
2. a guard of this module, or a consumer's row in `position`;
3. a counter (`geocast.repository.statements`): `change` for all that changes subscriptions, their
   versions or the changes themselves; `cursor` for all that fills mailboxes, or looks what is not
   in them yet. A counter's row is held until its numbers are visible, so that readers who follow
   them upwards miss none;
4. rows of other tables, ascending by key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, text

__all__ = ["Guards", "end_sessions", "guard", "sign"]


class Guards:
    """What is guarded, by a number that the processes of all versions agree on."""

    TABLES: Final = 0x67636173_01
    """The tables themselves: one process at a time makes or changes them."""

    SEEN: Final = 0x67636173_02
    """What was handed over: shared by those who mark it, alone by those who withdraw."""

    LETTERS: Final = 0x67636173_03
    """The numbers of dead letters, which so become visible in their own order."""

    MEMBERS: Final = 0x67636173_04
    """Who takes part, and who has which share of the work: one looks and takes at a time."""


# Every connection that writes holds a lock that nobody waits for and that names its process.
_SIGN: Final = "SELECT pg_advisory_lock_shared(%s)"
_END_SESSIONS: Final = text(
    "SELECT pg_terminate_backend(pid) FROM pg_locks "
    "WHERE locktype = 'advisory' AND objsubid = 1 AND pid <> pg_backend_pid() "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND (classid::bigint << 32 | objid::bigint) = ANY(:signatures)"
)
_ALONE: Final = text("SELECT pg_advisory_xact_lock(:what)")
_SHARED: Final = text("SELECT pg_advisory_xact_lock_shared(:what)")


def guard(connection: Connection, what: int, *, shared: bool = False) -> None:
    """Wait for a guard and hold it until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(_SHARED if shared else _ALONE, {"what": what})


def sign(connection: Any, process: str) -> None:
    """Let a new connection of the driver tell whose it is."""
    with connection.cursor() as cursor:
        cursor.execute(_SIGN, [_signature(process)])
    connection.commit()


def end_sessions(connection: Connection, processes: Iterable[str]) -> None:
    """End what processes are doing in the database, and so free all that they have locked.

    The server itself does not give up on a process that is stopped in the middle of a COPY.
    """
    if connection.dialect.name == "postgresql":
        signatures = [_signature(process) for process in processes]
        connection.execute(_END_SESSIONS, {"signatures": signatures})


def _signature(process: str) -> int:
    """A positive number of 63 bits that no other process has, nor any guard."""
    digest = hashlib.blake2b(process.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
