"""Matches into mailboxes: the part of the repository that writes most.

Each publication is one event, and each of its matches one mailbox row; the rows of an event have
consecutive cursors, and the event is known by the first of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
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
from geocast.repository.tables import body, event, mailbox, position, withdrawal
from geocast.repository.values import Owners

__all__ = ["advance", "insert_matches", "mailbox_rows", "stored_position"]


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
    """Insert what is neither known nor withdrawn; return the number of mailbox rows."""
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
    events = np.repeat(numbers, counts).tolist()
    rows = mailbox_rows(first, cache.of(versions), events, Kind.MATCH, at)
    insert_rows(connection, mailbox, rows)
    return total


def mailbox_rows(
    first: int, owners: Owners, events: Sequence[int], kind: Kind, at: int
) -> Iterator[tuple[Any, ...]]:
    """Return mailbox rows with cursors from `first` on, one for each owner and its event."""
    endpoints = (number if number >= 0 else None for number in owners.endpoint.tolist())
    return zip(
        range(first, first + len(events)),
        owners.account.tolist(),
        owners.subscription.tolist(),
        owners.vnumber.tolist(),
        events,
        endpoints,
        repeat(int(kind)),
        repeat(at),
        strict=False,
    )


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
