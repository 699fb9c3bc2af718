"""Bundles handed over to whoever writes them somewhere else: what an event is to a topic.

What many share is read once: an event with its feature, and what a subscription is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, bindparam, func, select, update

from geocast.model import Bundle, BundledMatch, Kind, match_id, now, split_key
from geocast.repository.owners import OwnerCache
from geocast.repository.statements import among, chunks
from geocast.repository.tables import body, bundle, event, subscription, version

__all__ = ["HandedOver", "Names", "hand_over"]

_MOST_NAMES: Final = 100_000
_MOST_ROWS: Final = 20_000
"""How many bundles are looked at in one transaction, for which others wait."""

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
    """What is known of a publication, but for its feature."""

    partition: int
    offset: int
    publisher: str
    publication: str
    published: int
    versions: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Row:
    """A bundle as it is stored."""

    cursor: int
    event: int
    kind: int
    matches: int
    notified: int


@dataclass(frozen=True, slots=True)
class _Found:
    """The matches of events that go to a topic: versions, and their subscriptions by number."""

    vnumbers: list[int]
    subscriptions: list[int]
    spans: dict[int, tuple[int, int]]

    @classmethod
    def among(cls, events: Mapping[int, _Event], owners: OwnerCache, endpoint: int) -> _Found:
        counts = [len(one.versions) for one in events.values()]
        all_of_them = owners.of(np.concatenate([one.versions for one in events.values()]))
        mine = all_of_them.endpoint == endpoint
        ends = np.cumsum(mine)[np.cumsum(counts) - 1].tolist()
        spans = dict(zip(events, pairwise([0, *ends]), strict=True))
        theirs = all_of_them.those(mine)
        return cls(theirs.vnumber.tolist(), theirs.subscription.tolist(), spans)

    def matches(self, event: int) -> Iterator[tuple[int, int]]:
        """Yield version and subscription of each match of an event."""
        span = slice(*self.spans[event])
        return zip(self.vnumbers[span], self.subscriptions[span], strict=True)


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Bundles as they are stored, with all that is needed to make them; that takes its time."""

    rows: list[_Row]
    events: dict[int, _Event]
    features: dict[int, bytes]
    found: _Found
    names: dict[int, tuple[str, int]]

    def bundles(self, deployment: str) -> list[Bundle]:
        """Return the bundles, in order."""
        return [self._bundle(row, deployment) for row in self.rows]

    def _bundle(self, row: _Row, deployment: str) -> Bundle:
        about = self.events[row.event]
        matches = []
        for vnumber, number in self.found.matches(row.event):
            name, edition = self.names[vnumber]
            identifier = match_id(deployment, about.partition, about.offset, number, edition)
            matches.append(BundledMatch(identifier, name, edition))
        return Bundle(
            row.cursor,
            Kind(row.kind),
            matches,
            about.publisher,
            about.publication,
            about.published,
            row.notified,
            self.features.get(row.event, b"") if row.kind == Kind.MATCH else b"",
        )


def hand_over(
    connection: Connection,
    names: Names,
    owners: OwnerCache,
    endpoint: int,
    limit: int,
    max_bytes: int,
) -> HandedOver | None:
    """Return the first bundles that wait for a topic, marked as seen, in order; None without any.

    They have at most `limit` matches, and take about `max_bytes` to read; but it is one bundle at
    least. To be called in a transaction that keeps withdrawals out.
    """
    columns = (bundle.c.cursor, bundle.c.event, bundle.c.kind, bundle.c.matches, bundle.c.notified)
    waiting = select(*columns).where(bundle.c.endpoint == endpoint)
    found = _numbers(connection, waiting.order_by(bundle.c.cursor).limit(min(limit, _MOST_ROWS)))
    rows = _first([_Row(*row) for row in found], [row[3] for row in found], limit)
    sizes = _sizes(connection, sorted({row.event for row in rows}))
    rows = _first(rows, [sizes.get(row.event, 0) for row in rows], max_bytes)
    numbers = sorted({row.event for row in rows})
    events, features = _events(connection, numbers), _features(connection, numbers)
    # What expires meanwhile has gone from these, or will go from the bundles.
    rows = [row for row in rows if row.event in (features if row.kind == Kind.MATCH else events)]
    if not rows:
        return None
    _mark(connection, endpoint, rows)
    told = _Found.among({row.event: events[row.event] for row in rows}, owners, endpoint)
    known = names.of(connection, set(told.vnumbers))
    return HandedOver(rows, events, features, told, known)


def _first(rows: list[_Row], sizes: list[int], most: int) -> list[_Row]:
    """Return the first rows, of at most that size together, but at least one."""
    for count, total in enumerate(accumulate(sizes)):
        if count and total > most:
            return rows[:count]
    return rows


def _numbers(connection: Connection, query: Select[*tuple[Any, ...]]) -> _Rows:
    """Return rows of plain numbers, past SQLAlchemy, which takes as long for them as SQLite."""
    found: _Rows = connection.execute(query).cursor.fetchall()
    return found


def _sizes(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return how many bytes there are to read of each event, which may have very many matches."""
    size = func.length(event.c.versions) + func.coalesce(func.length(body.c.feature), 0)
    query = select(event.c.number, size).outerjoin(body, body.c.event == event.c.number)
    found: dict[int, int] = {}
    for part in chunks(numbers):
        rows = connection.execute(query.where(among(connection, event.c.number, part)))
        found.update((row[0], row[1]) for row in rows)
    return found


def _events(connection: Connection, numbers: Sequence[int]) -> dict[int, _Event]:
    found: dict[int, _Event] = {}
    query = select(
        event.c.number,
        event.c.partition,
        event.c.offset,
        event.c.key,
        event.c.published,
        event.c.versions,
    )
    for part in chunks(numbers):
        for row in connection.execute(query.where(among(connection, event.c.number, part))):
            number, partition, offset, key, published, versions = row
            vnumbers = np.frombuffer(versions, np.int64)
            found[number] = _Event(partition, offset, *split_key(key), published, vnumbers)
    return found


def _features(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for part in chunks(numbers):
        query = select(body.c.event, body.c.feature).where(among(connection, body.c.event, part))
        found.update((row[0], row[1]) for row in connection.execute(query))
    return found


_MARK: Final = (
    update(bundle)
    .where(
        bundle.c.endpoint == bindparam("topic"),
        bundle.c.cursor.between(bindparam("first"), bindparam("last")),
        bundle.c.seen.is_(None),
    )
    .values(seen=bindparam("at"))
)


def _mark(connection: Connection, endpoint: int, rows: Sequence[_Row]) -> None:
    """Note that somebody has begun to tell of these, and maybe has told."""
    span = {"first": rows[0].cursor, "last": rows[-1].cursor}
    connection.execute(_MARK, {"topic": endpoint, "at": now(), **span})
