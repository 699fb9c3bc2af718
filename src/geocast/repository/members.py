"""Processes that work together: who takes part, and who has which share of the work.

Work is divided into shares, each by its number, and a share has one holder at a time. Whoever takes
part says so again and again (`beat`); who is silent for too long has lost all shares. That keeps
two from doing the same for long, and nothing else: one that was stopped for a while may believe
for a moment that it still has a share, so what must not be done twice is guarded by itself. Its
connections to the database are ended, so that nobody waits for what it has locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, delete, select, text, update

from geocast.model import MICROSECONDS, now
from geocast.operate import process_of
from geocast.repository.database import Database
from geocast.repository.locks import Guards, end_sessions, guard
from geocast.repository.repeat import repeatable
from geocast.repository.statements import insert_absent, upsert
from geocast.repository.tables import member, share
from geocast.repository.values import Division

__all__ = ["Members", "divide"]

Shares = Mapping[int, str | None]
"""The holder of each share of one work; None where it is free."""

_CLOCK: Final = text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)")

# One that is stopped in the middle must not keep the others waiting until they lose their shares.
_SHORT: Final = text("SELECT set_config('idle_in_transaction_session_timeout', '2s', true)")


class Members:
    """The processes of all roles. Times are those of the database, where it is a server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def beat(
        self,
        name: str,
        role: str,
        seconds: float,
        works: Mapping[str, int] | None = None,
        *,
        released: Iterable[tuple[str, int]] = (),
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> dict[str, Division]:
        """Say that a member is alive, for so many seconds; return its shares of each of the works.

        `works` says how many shares each has: every member of a role names the same. Shares that
        are free are taken, as many as are due to it; those that it has given up are `released`.
        Of whom `is_gone` knows that they have ended, the shares are free at once.
        """
        with self._database.write(durable=False) as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(_SHORT)
            guard(connection, Guards.MEMBERS)
            at = _clock(connection)
            _put(connection, name, role, at + int(seconds * MICROSECONDS))
            alive = _alive(connection, role, at, is_gone)
            _release(connection, name, released)
            return {
                work: _divided(connection, name, work, count, alive)
                for work, count in (works or {}).items()
            }

    @repeatable
    def leave(self, name: str) -> None:
        """Take part no longer: all shares of a member are free."""
        with self._database.write(durable=False) as connection:
            guard(connection, Guards.MEMBERS)
            connection.execute(update(share).where(share.c.member == name).values(member=None))
            connection.execute(delete(member).where(member.c.name == name))

    def present(self, role: str) -> list[str]:
        """Return the members of a role that are alive."""
        query = select(member.c.name).where(member.c.role == role)
        with self._database.read() as connection:
            at = _clock(connection)
            return list(connection.execute(query.where(member.c.until > at)).scalars())


def divide(name: str, shares: Shares, alive: Iterable[str]) -> Division:
    """Return which shares a member keeps, takes and should give up, given who holds what.

    All have as many, or one more: those who have most keep the odd ones, so that few change hands.
    """
    held = {one: [number for number, holder in shares.items() if holder == one] for one in alive}
    order = sorted(held, key=lambda one: (-len(held[one]), one))
    least, odd = divmod(len(shares), len(order))
    due = least + (order.index(name) < odd)
    mine = sorted(held[name])
    free = sorted(number for number, holder in shares.items() if holder not in held)
    taken = free[: max(0, due - len(mine))]
    return Division(frozenset(mine[:due] + taken), frozenset(mine[due:]))


def _clock(connection: Connection) -> int:
    """Return the time that all members agree on."""
    if connection.dialect.name != "postgresql":
        return now()
    return int(connection.execute(_CLOCK).scalar_one())


def _put(connection: Connection, name: str, role: str, until: int) -> None:
    put = upsert(connection, member).values(name=name, role=role, until=until)
    later = put.on_conflict_do_update(index_elements=["name"], set_={"until": put.excluded.until})
    connection.execute(later)


def _alive(connection: Connection, role: str, at: int, is_gone: Callable[[str], bool]) -> list[str]:
    """Return the members of a role; those who are no longer are forgotten, whatever their role."""
    rows = connection.execute(select(member)).all()
    gone = [row.name for row in rows if row.until <= at or is_gone(row.name)]
    if gone:
        connection.execute(delete(member).where(member.c.name.in_(gone)))
        end_sessions(connection, map(process_of, gone))
    return [row.name for row in rows if row.role == role and row.name not in gone]


def _release(connection: Connection, name: str, released: Iterable[tuple[str, int]]) -> None:
    for work, number in released:
        mine = (share.c.work == work, share.c.number == number, share.c.member == name)
        connection.execute(update(share).where(*mine).values(member=None))


def _divided(
    connection: Connection, name: str, work: str, count: int, alive: list[str]
) -> Division:
    """Take what is due to a member of one work."""
    query = select(share.c.number, share.c.member).where(share.c.work == work)
    found = {row.number: row.member for row in connection.execute(query)}
    if missing := [number for number in range(count) if number not in found]:
        rows = [{"work": work, "number": number, "member": None} for number in missing]
        insert_absent(connection, share, rows)
    shares = {number: found.get(number) for number in range(count)}
    division = divide(name, shares, alive)
    for number in division.held:
        if shares[number] != name:
            this = (share.c.work == work, share.c.number == number)
            connection.execute(update(share).where(*this).values(member=name))
    return division
