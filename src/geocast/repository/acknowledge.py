"""Rows out of mailboxes: acknowledged, or expired.

They go in pieces of bounded size, each a transaction, so that others can write in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from math import inf
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Table, delete, exists, or_, select

from geocast.model import Kind
from geocast.repository.database import Database
from geocast.repository.repeat import repeatable
from geocast.repository.statements import Numbers, among, chunks, lock_numbers, lock_rows
from geocast.repository.tables import body, bundle, event, mailbox, withdrawal

__all__ = ["expire", "remove_at_once", "remove_cursors", "remove_rows"]

_PIECE: Final = 5_000
_AT_ONCE: Final = 100


def remove_rows(
    database: Database, conditions: Sequence[ColumnElement[bool]], table: Table = mailbox
) -> int:
    """Remove all rows that meet conditions, of mailboxes or bundles; return how many."""
    removed = 0
    while (count := _remove_piece(database, table, conditions)) is not None:
        removed += count
    return removed


@repeatable
def _remove_piece(
    database: Database, table: Table, conditions: Sequence[ColumnElement[bool]]
) -> int | None:
    """Remove the first rows; return how many, None if there were none to remove."""
    query = select(table.c.cursor).where(*conditions).order_by(table.c.cursor).limit(_PIECE)
    with database.write(durable=False) as connection:
        cursors = connection.execute(query).scalars().all()
        if not cursors:
            return None
        span = table.c.cursor.between(cursors[0], cursors[-1])
        return _take_out(connection, table, *conditions, span)


@repeatable
def remove_at_once(database: Database, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Remove the rows that meet conditions, which are known to be few; return how many."""
    with database.write(durable=False) as connection:
        return _take_out(connection, table, *conditions)


def remove_cursors(
    database: Database, conditions: Sequence[ColumnElement[bool]], cursors: Iterable[int]
) -> int:
    """Remove single rows, as far as they meet conditions; return how many."""
    parts = chunks(sorted(set(cursors)), _PIECE)
    return sum(_remove_some(database, conditions, part) for part in parts)


@repeatable
def _remove_some(
    database: Database, conditions: Sequence[ColumnElement[bool]], cursors: Sequence[int]
) -> int:
    with database.write(durable=False) as connection:
        named = among(connection, mailbox.c.cursor, cursors)
        return _take_out(connection, mailbox, *conditions, named)


def _take_out(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Remove rows, with what nobody else waits for; return how many this transaction removed."""
    removal = delete(table).where(*conditions).returning(table.c.event, table.c.kind)
    rows = connection.execute(removal).all()
    _drop_bodies(connection, rows)
    return len(rows)


def _drop_bodies(connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]) -> None:
    """Remove the features that no row shows any more; the events stay, for withdrawals.

    Of two who remove the last rows of an event at once, the second waits for the body, and so
    sees what the first has removed.
    """
    events = sorted({row.event for row in rows if row.kind == Kind.MATCH})
    waits = or_(
        *(
            exists().where(
                table.c.cursor.between(event.c.number, event.c.last),
                table.c.event == event.c.number,
            )
            for table in (mailbox, bundle)
        )
    )
    for part in chunks(events):
        lock_rows(connection, body.c.event, part)
        named = among(connection, event.c.number, part)
        unseen = select(event.c.number).where(named, ~waits)
        connection.execute(delete(body).where(body.c.event.in_(unseen)))


def expire(database: Database, before: int, settled: int | None) -> int:
    """Remove rows and events of before a time; return how many rows.

    Withdrawals go if they are also of before `settled`; none of them if that is None.
    """
    removed = 0
    for table in (mailbox, bundle):
        while (count := _expire_rows(database, table, before)) is not None:
            removed += count
    last: int | None = -1
    while last is not None:
        last = _expire_events(database, before, last)
    if settled is not None:
        _expire_withdrawals(database, min(before, settled))
    return removed


@repeatable
def _expire_withdrawals(database: Database, before: int) -> None:
    with database.write(durable=False) as connection:
        connection.execute(delete(withdrawal).where(withdrawal.c.at < before))


@repeatable
def _expire_rows(database: Database, table: Table, before: int) -> int | None:
    """Remove the first rows if they are old; return how many, None if there are none."""
    query = select(table.c.cursor, table.c.notified).order_by(table.c.cursor).limit(_PIECE)
    with database.write(durable=False) as connection:
        rows = connection.execute(query.execution_options(yield_per=_AT_ONCE))
        old = [row.cursor for row in takewhile(lambda row: row.notified < before, rows)]
        rows.close()
        if not old:
            return None
        return connection.execute(delete(table).where(table.c.cursor <= old[-1])).rowcount


@repeatable
def _expire_events(database: Database, before: int, after: int) -> int | None:
    """Remove old events that no row refers to; return the last one seen, None at the end."""
    query = select(event.c.number, event.c.last, event.c.notified).where(event.c.number > after)
    with database.write(durable=False) as connection:
        newest = lock_numbers(connection, Numbers.CURSOR)
        waiting = min(_oldest(connection, mailbox), _oldest(connection, bundle), newest + 1)
        first = query.order_by(event.c.number).limit(_PIECE)
        rows = connection.execute(first.execution_options(yield_per=_AT_ONCE))
        old = list(takewhile(lambda row: row.notified < before, rows))
        rows.close()
        gone = [row.number for row in old if row.last < waiting]
        connection.execute(delete(body).where(body.c.event.in_(gone)))
        connection.execute(delete(event).where(event.c.number.in_(gone)))
    return old[-1].number if old and len(old) == _PIECE else None


def _oldest(connection: Connection, table: Table) -> float:
    """The first cursor of a table; beyond all where it has none."""
    query = select(table.c.cursor).order_by(table.c.cursor).limit(1)
    found: int | None = connection.execute(query).scalar_one_or_none()
    return inf if found is None else found
