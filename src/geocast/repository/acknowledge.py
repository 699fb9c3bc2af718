"""Rows out of mailboxes: acknowledged, or expired.

They go in pieces of bounded size, each a transaction, so that others can write in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, delete, exists, select

from geocast.model import Kind
from geocast.repository.database import Database
from geocast.repository.statements import Numbers, chunks, lock_numbers
from geocast.repository.tables import body, event, mailbox, withdrawal

__all__ = ["expire", "remove_cursors", "remove_rows"]

_PIECE: Final = 5_000
_COLUMNS: Final = (mailbox.c.cursor, mailbox.c.event, mailbox.c.kind)


def remove_rows(
    database: Database,
    account: int,
    *,
    through: int | None = None,
    subscription: int | None = None,
) -> int:
    """Remove an account's rows: up to a cursor, or all; of one subscription, or any."""
    conditions = [mailbox.c.account == account]
    if through is not None:
        conditions.append(mailbox.c.cursor <= through)
    if subscription is not None:
        conditions.append(mailbox.c.subscription == subscription)
    removed = 0
    while count := _remove_piece(database, conditions):
        removed += count
    return removed


def _remove_piece(database: Database, conditions: Sequence[ColumnElement[bool]]) -> int:
    query = select(*_COLUMNS).where(*conditions).order_by(mailbox.c.cursor).limit(_PIECE)
    with database.write(durable=False) as connection:
        rows = connection.execute(query).all()
        if rows:
            span = mailbox.c.cursor.between(rows[0].cursor, rows[-1].cursor)
            connection.execute(delete(mailbox).where(*conditions, span))
            _drop_bodies(connection, rows)
    return len(rows)


def remove_cursors(
    database: Database, account: int, cursors: Iterable[int], subscription: int | None = None
) -> int:
    """Remove single rows of an account; those of other accounts are left alone."""
    removed = 0
    for part in chunks(sorted(set(cursors)), _PIECE):
        conditions = [mailbox.c.account == account, mailbox.c.cursor.in_(part)]
        if subscription is not None:
            conditions.append(mailbox.c.subscription == subscription)
        with database.write(durable=False) as connection:
            rows = connection.execute(select(*_COLUMNS).where(*conditions)).all()
            connection.execute(delete(mailbox).where(*conditions))
            _drop_bodies(connection, rows)
        removed += len(rows)
    return removed


def _drop_bodies(connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]) -> None:
    """Remove the features that no row shows any more; the events stay, for withdrawals."""
    events = sorted({row.event for row in rows if row.kind == Kind.MATCH})
    waits = exists().where(
        mailbox.c.cursor.between(event.c.number, event.c.last), mailbox.c.event == event.c.number
    )
    for part in chunks(events):
        unseen = select(event.c.number).where(event.c.number.in_(part), ~waits)
        connection.execute(delete(body).where(body.c.event.in_(unseen)))


def expire(database: Database, before: int, settled: int | None) -> int:
    """Remove rows and events of before a time; return how many rows.

    Withdrawals go if they are also of before `settled`; none of them if that is None.
    """
    removed = 0
    while count := _expire_rows(database, before):
        removed += count
    last: int | None = -1
    while last is not None:
        last = _expire_events(database, before, last)
    if settled is not None:
        forgotten = delete(withdrawal).where(withdrawal.c.at < min(before, settled))
        with database.write(durable=False) as connection:
            connection.execute(forgotten)
    return removed


def _expire_rows(database: Database, before: int) -> int:
    query = select(mailbox.c.cursor, mailbox.c.notified).order_by(mailbox.c.cursor).limit(_PIECE)
    with database.write(durable=False) as connection:
        rows = connection.execute(query).all()
        old = [row.cursor for row in takewhile(lambda row: row.notified < before, rows)]
        if old:
            connection.execute(delete(mailbox).where(mailbox.c.cursor <= old[-1]))
    return len(old)


def _expire_events(database: Database, before: int, after: int) -> int | None:
    """Remove old events that no row refers to; return the last one seen, None at the end."""
    query = select(event.c.number, event.c.last, event.c.notified).where(event.c.number > after)
    with database.write(durable=False) as connection:
        oldest = select(mailbox.c.cursor).order_by(mailbox.c.cursor).limit(1)
        waiting = connection.execute(oldest).scalar_one_or_none()
        if waiting is None:
            waiting = lock_numbers(connection, Numbers.CURSOR) + 1
        rows = connection.execute(query.order_by(event.c.number).limit(_PIECE)).all()
        old = list(takewhile(lambda row: row.notified < before, rows))
        gone = [row.number for row in old if row.last < waiting]
        connection.execute(delete(body).where(body.c.event.in_(gone)))
        connection.execute(delete(event).where(event.c.number.in_(gone)))
    return old[-1].number if old and len(old) == _PIECE else None
