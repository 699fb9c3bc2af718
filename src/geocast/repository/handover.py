"""Notifications handed over in bulk to whoever writes them somewhere else: a topic.

What many rows share is read once: an event with its feature, and what a subscription is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from geocast.model import Kind, Notification, match_id, split_key
from geocast.repository.statements import among, chunks, upsert
from geocast.repository.tables import body, delivered, event, mailbox, subscription, version

__all__ = ["Names", "hand_over"]

_MOST_NAMES: Final = 100_000

_Rows = Sequence[tuple[int, ...]]


class Names:
    """What subscription versions are called: id and version, which never change."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, int]] = {}
        self._lock = Lock()

    def of(self, connection: Connection, vnumbers: set[int]) -> dict[int, tuple[str, int]]:
        """Return the names of these versions, and maybe of others."""
        with self._lock:
            if missing := vnumbers - self._known.keys():
                if len(self._known) + len(missing) > _MOST_NAMES:
                    self._known = {}
                    missing = vnumbers
                self._read(connection, missing)
            return self._known

    def _read(self, connection: Connection, vnumbers: set[int]) -> None:
        names = select(version.c.vnumber, subscription.c.id, version.c.version).join(
            subscription, subscription.c.number == version.c.subscription
        )
        for part in chunks(sorted(vnumbers)):
            found = connection.execute(names.where(among(connection, version.c.vnumber, part)))
            self._known.update((row[0], (row[1], row[2])) for row in found)


@dataclass(frozen=True, slots=True)
class _Event:
    """What the notifications of a publication have in common."""

    partition: int
    offset: int
    publisher: str
    publication: str
    published: int
    size: int


def hand_over(
    connection: Connection,
    names: Names,
    deployment: str,
    endpoint: int,
    limit: int,
    max_bytes: int,
) -> list[Notification]:
    """Return the first notifications that wait for an endpoint, marked as seen, in order.

    At most `limit`, whose features have about `max_bytes` together, but at least one if there is
    one. To be called in a transaction that keeps withdrawals out.
    """
    waiting = select(
        mailbox.c.cursor,
        mailbox.c.kind,
        mailbox.c.notified,
        mailbox.c.subscription,
        mailbox.c.vnumber,
        mailbox.c.event,
    ).where(mailbox.c.endpoint == endpoint)
    rows = _numbers(connection, waiting.order_by(mailbox.c.cursor).limit(limit))
    events = _events(connection, sorted({row[5] for row in rows}))
    rows = _bounded(rows, events, max_bytes)
    features = _features(connection, sorted({row[5] for row in rows}))
    # What expires meanwhile has gone from these, or will go from the mailbox.
    rows = [row for row in rows if row[5] in (features if row[1] == Kind.MATCH else events)]
    known = names.of(connection, {row[4] for row in rows})
    _mark(connection, rows)
    found = []
    for cursor, kind, notified, number, vnumber, at in rows:
        about = events[at]
        name, edition = known[vnumber]
        found.append(
            Notification(
                cursor,
                match_id(deployment, about.partition, about.offset, number, edition),
                Kind.MATCH if kind == Kind.MATCH else Kind(kind),
                name,
                edition,
                about.publisher,
                about.publication,
                about.published,
                notified,
                features.get(at, b""),
            )
        )
    return found


def _numbers(connection: Connection, query: Select[*tuple[Any, ...]]) -> _Rows:
    """Return rows of plain numbers, past SQLAlchemy, which takes as long for them as SQLite."""
    found: _Rows = connection.execute(query).cursor.fetchall()
    return found


def _events(connection: Connection, numbers: Sequence[int]) -> dict[int, _Event]:
    found: dict[int, _Event] = {}
    query = select(
        event.c.number,
        event.c.partition,
        event.c.offset,
        event.c.key,
        event.c.published,
        func.coalesce(func.length(body.c.feature), 0),
    ).outerjoin(body, body.c.event == event.c.number)
    for part in chunks(numbers):
        for row in connection.execute(query.where(among(connection, event.c.number, part))):
            number, partition, offset, key, published, size = row
            found[number] = _Event(partition, offset, *split_key(key), published, size)
    return found


def _bounded(rows: _Rows, events: dict[int, _Event], max_bytes: int) -> _Rows:
    total = 0
    for count, row in enumerate(rows):
        total += events[row[5]].size if row[5] in events else 0
        if count and total > max_bytes:
            return list(islice(rows, count))
    return rows


def _features(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for part in chunks(numbers):
        query = select(body.c.event, body.c.feature).where(among(connection, body.c.event, part))
        found.update((row[0], row[1]) for row in connection.execute(query))
    return found


def _mark(connection: Connection, rows: _Rows) -> None:
    """Note how far the subscriptions have been told."""
    highest = {row[3]: row[0] for row in rows}
    if not highest:
        return
    put = upsert(connection, delivered)
    later = put.on_conflict_do_update(
        index_elements=["subscription"],
        set_={"cursor": put.excluded.cursor},
        where=delivered.c.cursor < put.excluded.cursor,
    )
    marks = [{"subscription": number, "cursor": highest[number]} for number in sorted(highest)]
    connection.execute(later, marks)
