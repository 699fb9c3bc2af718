"""Withdrawing a publication: never seen by those who have not seen it, announced to the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, select, update

from geocast.model import Kind
from geocast.repository.delivery import insert_notifications
from geocast.repository.locks import Guards, guard
from geocast.repository.owners import OwnerCache
from geocast.repository.statements import Numbers, chunks, lock_numbers, take_numbers, upsert
from geocast.repository.tables import account, body, bundle, delivered, event, mailbox, withdrawal
from geocast.repository.values import Owners, Withdrawn

__all__ = ["is_known", "is_withdrawn", "withdraw", "withdrawn"]


def is_withdrawn(connection: Connection, key: str) -> bool:
    """Whether a publication was withdrawn."""
    return _until(connection, key) is not None


def withdrawn(connection: Connection, keys: Sequence[str]) -> dict[str, int]:
    """Return those of the keys that were withdrawn, each up to which time of publication."""
    found: dict[str, int] = {}
    for part in chunks(keys):
        query = select(withdrawal.c.key, withdrawal.c.until).where(withdrawal.c.key.in_(part))
        found |= {row.key: row.until for row in connection.execute(query)}
    return found


def is_known(connection: Connection, key: str) -> bool:
    """Whether a publication was matched, and is not forgotten since, or was withdrawn."""
    query = select(event.c.number).where(event.c.key == key).limit(1)
    return connection.execute(query).first() is not None or is_withdrawn(connection, key)


def withdraw(connection: Connection, key: str, until: int, cache: OwnerCache, at: int) -> Withdrawn:
    """Withdraw a publication: all that has this key and was published by the time `until`."""
    guard(connection, Guards.SEEN)
    lock_numbers(connection, Numbers.CURSOR)
    earlier = _until(connection, key)
    query = select(event).where(
        event.c.key == key, event.c.withdrawn.is_(None), event.c.published <= until
    )
    events = connection.execute(query.order_by(event.c.number)).all()
    _record(connection, key, max(until, earlier or 0), at)
    removed = notices = 0
    for row in events:
        unseen, seen = _take_back(connection, row, cache, at)
        removed, notices = removed + unseen, notices + seen
    return Withdrawn(bool(events) or earlier is not None, removed, notices)


def _until(connection: Connection, key: str) -> int | None:
    query = select(withdrawal.c.until).where(withdrawal.c.key == key)
    return connection.execute(query).scalar_one_or_none()


def _record(connection: Connection, key: str, until: int, at: int) -> None:
    put = upsert(connection, withdrawal).values(key=key, until=until, at=at)
    changed = {"until": put.excluded.until, "at": put.excluded.at}
    connection.execute(put.on_conflict_do_update(index_elements=["key"], set_=changed))


def _take_back(
    connection: Connection, row: Row[*tuple[Any, ...]], cache: OwnerCache, at: int
) -> tuple[int, int]:
    """Remove the rows of an event; return how many were unseen, and how many get a notice."""
    owners = cache.of(np.frombuffer(row.versions, np.int64))
    topic = owners.bundled == 1
    alone, together = owners.those(~topic), owners.those(topic)
    seen = np.empty(len(topic), bool)
    seen[~topic] = _seen(connection, alone, _cursors(connection, row))
    seen[topic] = ~np.isin(together.endpoint, _unseen_topics(connection, row))
    unseen = int(np.count_nonzero(~seen))
    told = _standing(connection, owners.those(seen))
    for table in (mailbox, bundle):
        span = table.c.cursor.between(row.number, row.last)
        connection.execute(delete(table).where(span, table.c.event == row.number))
    connection.execute(delete(body).where(body.c.event == row.number))
    count = len(told.vnumber)
    first = take_numbers(connection, Numbers.CURSOR, count)
    events = np.full(count, row.number, np.int64)
    insert_notifications(connection, first, told, events, Kind.WITHDRAWAL, at)
    last = max(row.last, first + count - 1)
    connection.execute(
        update(event).where(event.c.number == row.number).values(withdrawn=at, last=last)
    )
    return unseen, count


def _cursors(connection: Connection, row: Row[*tuple[Any, ...]]) -> dict[int, int]:
    """The rows of an event that are still there: version to cursor."""
    query = select(mailbox.c.vnumber, mailbox.c.cursor).where(
        mailbox.c.cursor.between(row.number, row.last), mailbox.c.event == row.number
    )
    return {row.vnumber: row.cursor for row in connection.execute(query)}


def _unseen_topics(connection: Connection, row: Row[*tuple[Any, ...]]) -> list[int]:
    """The endpoints whose bundle of an event nobody has begun to write."""
    query = select(bundle.c.endpoint).where(
        bundle.c.cursor.between(row.number, row.last),
        bundle.c.event == row.number,
        bundle.c.seen.is_(None),
    )
    return list(connection.execute(query).scalars())


def _seen(connection: Connection, owners: Owners, cursors: dict[int, int]) -> Any:
    """Which of the owners were handed the event: their row is acknowledged, or marked."""
    reached: dict[int, int] = {}
    for part in chunks(set(owners.subscription.tolist())):
        query = select(delivered).where(delivered.c.subscription.in_(part))
        reached |= {row.subscription: row.cursor for row in connection.execute(query)}
    pairs = zip(owners.vnumber.tolist(), owners.subscription.tolist(), strict=True)
    marks = [cursors.get(vnumber, 0) <= reached.get(number, 0) for vnumber, number in pairs]
    return np.array(marks, dtype=bool)


def _standing(connection: Connection, owners: Owners) -> Owners:
    """Those whose account has not been removed."""
    removed: set[int] = set()
    for part in chunks(set(owners.account.tolist())):
        query = select(account.c.number).where(
            account.c.number.in_(part), account.c.removed.isnot(None)
        )
        removed.update(connection.execute(query).scalars())
    return owners.those(~np.isin(owners.account, np.array(sorted(removed), np.int64)))
