"""Matches into mailboxes: the part of the repository that writes most.

Each publication is one event, each of its matches has a cursor, and the event is known by the first
of them. A match is a row of a mailbox; but those that go to the same topic are one bundle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select, update

from geocast.errors import StateError
from geocast.model import Kind, MatchRecord, publication_key
from geocast.repository.owners import OwnerCache
from geocast.repository.statements import (
    Numbers,
    among,
    chunks,
    insert_rows,
    lock_numbers,
    take_numbers,
    upsert,
)
from geocast.repository.tables import body, bundle, event, mailbox, position, withdrawal
from geocast.repository.values import Owners

__all__ = ["advance", "insert_matches", "insert_notifications", "stored_position"]

_Numbers = npt.NDArray[np.int64]


def stored_position(connection: Connection, consumer: str, partition: int) -> int:
    """Return the offset that a consumer goes on from; 0 at first."""
    query = select(position.c.offset).where(
        position.c.consumer == consumer, position.c.partition == partition
    )
    return connection.execute(query).scalar_one_or_none() or 0


def advance(connection: Connection, consumer: str, partition: int, start: int, stop: int) -> None:
    """Move a consumer from one offset to another; raises StateError if it is not there."""
    place = (position.c.consumer == consumer, position.c.partition == partition)
    move = update(position).where(*place, position.c.offset == start).values(offset=stop)
    if connection.execute(move).rowcount or (
        start == 0 and _first_position(connection, consumer, partition, stop)
    ):
        return
    stored = stored_position(connection, consumer, partition)
    raise StateError(
        f"consumer {consumer!r} of partition {partition} is at {stored}, not at {start}"
    )


def _first_position(connection: Connection, consumer: str, partition: int, stop: int) -> bool:
    put = upsert(connection, position).values(consumer=consumer, partition=partition, offset=stop)
    made = put.on_conflict_do_nothing().returning(position.c.offset)
    return connection.execute(made).one_or_none() is not None


def insert_matches(
    connection: Connection, records: Sequence[MatchRecord], cache: OwnerCache, at: int
) -> int:
    """Insert what is neither known nor withdrawn; return the number of matches."""
    if not any(record.versions for record in records):
        return 0
    # Who withdraws meanwhile waits here, or is waited for: what is read now holds to the end.
    lock_numbers(connection, Numbers.CURSOR)
    fresh = _not_withdrawn(connection, _not_known(connection, records))
    counts = [len(record.versions) for record in fresh]
    total = sum(counts)
    if not total:
        return 0
    first = take_numbers(connection, Numbers.CURSOR, total)
    numbers = (first + np.cumsum(counts) - counts).tolist()
    insert_rows(connection, event, map(_event_row, fresh, numbers, repeat(at)))
    features = (record.feature for record in fresh)
    insert_rows(connection, body, zip(numbers, features, strict=True))
    versions = np.fromiter(chain.from_iterable(r.versions for r in fresh), np.int64, total)
    events = np.repeat(np.asarray(numbers, np.int64), counts)
    insert_notifications(connection, first, cache.of(versions), events, Kind.MATCH, at)
    return total


def insert_notifications(
    connection: Connection, first: int, owners: Owners, events: _Numbers, kind: Kind, at: int
) -> None:
    """Insert what each owner is told of its event, with cursors from `first` on."""
    cursors = first + np.arange(len(events))
    topic = owners.bundled == 1
    if topic.any():
        _insert_bundles(connection, cursors[topic], owners.those(topic), events[topic], kind, at)
    if not topic.all():
        alone = ~topic
        _insert_rows(connection, cursors[alone], owners.those(alone), events[alone], kind, at)


def _insert_rows(
    connection: Connection, cursors: _Numbers, owners: Owners, events: _Numbers, kind: Kind, at: int
) -> None:
    endpoints = (number if number >= 0 else None for number in owners.endpoint.tolist())
    columns = (cursors, owners.account, owners.subscription, owners.vnumber, events)
    lists = (column.tolist() for column in columns)
    rows = zip(*lists, endpoints, repeat(int(kind)), repeat(at), strict=False)
    insert_rows(connection, mailbox, rows)


def _insert_bundles(
    connection: Connection, cursors: _Numbers, owners: Owners, events: _Numbers, kind: Kind, at: int
) -> None:
    """Insert a bundle for each event and topic; events ascend."""
    order = np.lexsort((cursors, owners.endpoint, events))
    event_of, endpoint_of = events[order], owners.endpoint[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(event_of) != 0) | (np.diff(endpoint_of) != 0)
    starts = np.flatnonzero(begins)
    matches = np.diff(np.append(starts, len(order)))
    firsts = order[starts]
    columns = (cursors[firsts], owners.account[firsts], owners.endpoint[firsts], events[firsts])
    lists = (column.tolist() for column in columns)
    rows = zip(*lists, repeat(int(kind)), matches.tolist(), repeat(at), repeat(None), strict=False)
    insert_rows(connection, bundle, rows)


def _not_known(connection: Connection, records: Sequence[MatchRecord]) -> list[MatchRecord]:
    """Those that concern somebody and are not there yet, each once."""
    by_place = {(r.partition, r.offset): r for r in records if r.versions}
    offsets: defaultdict[int, list[int]] = defaultdict(list)
    for partition, offset in by_place:
        offsets[partition].append(offset)
    for partition, wanted in offsets.items():
        for part in chunks(wanted):
            query = select(event.c.offset).where(
                event.c.partition == partition, among(connection, event.c.offset, part)
            )
            for offset in connection.execute(query).scalars():
                del by_place[partition, offset]
    return list(by_place.values())


def _not_withdrawn(connection: Connection, records: Sequence[MatchRecord]) -> list[MatchRecord]:
    until: dict[str, int] = {}
    for part in chunks(_key(record) for record in records):
        query = select(withdrawal.c.key, withdrawal.c.until)
        query = query.where(among(connection, withdrawal.c.key, part))
        until |= {row.key: row.until for row in connection.execute(query)}
    return [record for record in records if record.published > until.get(_key(record), -1)]


def _key(record: MatchRecord) -> str:
    return publication_key(record.publisher, record.id)


def _event_row(record: MatchRecord, number: int, at: int) -> tuple[Any, ...]:
    return (
        number,
        number + len(record.versions) - 1,
        record.partition,
        record.offset,
        _key(record),
        record.published,
        at,
        None,
        np.asarray(record.versions, np.int64).tobytes(),
    )
