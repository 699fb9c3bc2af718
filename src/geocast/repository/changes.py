"""The sequence of changes, read by those who keep snapshots, and what they report back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Row, Select, and_, case, delete, func, or_, select, update

from geocast.errors import StateError
from geocast.repository.database import Database
from geocast.repository.repeat import repeatable
from geocast.repository.statements import Numbers, chunks, insert_absent, lock_numbers
from geocast.repository.tables import change, counter, endpoint, snapshot, version, wanted
from geocast.repository.values import SUBSCRIPTIONS, TOPIC_SCHEME, Changes, Owners

__all__ = ["activate", "changes", "expire", "owners", "snapshot_at", "standing"]

_ROWS: Final = 10_000
_PIECE: Final = 5_000
_COLUMNS: Final = (wanted.c.vnumber, wanted.c.geometry, wanted.c.predicate, wanted.c.filter)


def changes(connection: Connection, after: int, limit: int) -> Changes:
    """Return the net effect of at most `limit` changes after one.

    Raises StateError if some of them have expired, or `after` itself was never made.
    """
    query = select(change).where(change.c.seq > after).order_by(change.c.seq).limit(limit)
    rows = connection.execute(query).all()
    first = rows[0].seq if rows else _newest(connection) + 1
    if first > after + 1:
        raise StateError(f"the changes after {after} are gone, up to {first - 1}")
    if first < after + 1:
        raise StateError(f"change {after} is not there: the newest is {first - 1}")
    if not rows:
        return Changes(SUBSCRIPTIONS.empty_table(), [], after, 0)
    through = rows[-1].seq
    added = {row.added for row in rows if row.added is not None}
    removed = [row.removed for row in rows if row.removed is not None]
    gone = added.intersection(removed)
    adding = (
        select(*_COLUMNS)
        .join(change, change.c.added == wanted.c.vnumber)
        .where(change.c.seq > after, change.c.seq <= through)
        .order_by(change.c.seq)
    )
    found = (row for row in connection.execute(adding) if row.vnumber not in gone)
    left = [vnumber for vnumber in removed if vnumber not in gone]
    return Changes(_table(found), left, through, len(rows))


def _newest(connection: Connection) -> int:
    query = select(counter.c.value).where(counter.c.name == Numbers.CHANGE)
    newest: int = connection.execute(query).scalar_one()
    return newest


def standing(
    database: Database, through: int, vnumbers: Sequence[int] | None
) -> Iterator[pa.Table]:
    """Yield the versions that stand after the change `through`, piece by piece."""
    if vnumbers is not None:
        for part in chunks(sorted(set(vnumbers)), _ROWS):
            yield from _tables(database, _standing(through).where(version.c.vnumber.in_(part)))
        return
    last = 0
    while True:
        query = _standing(through).where(version.c.vnumber > last).limit(_ROWS)
        for table in _tables(database, query):
            last = int(table["id"][-1].as_py())
            yield table
            break
        else:
            return


def _tables(database: Database, query: Select[Any]) -> Iterator[pa.Table]:
    """One table, or none: the connection is not held while the caller is busy with it."""
    with database.read() as connection:
        rows = connection.execute(query).all()
    if rows:
        yield _table(rows)


def _standing(through: int) -> Select[Any]:
    stays = or_(version.c.removed.is_(None), version.c.removed > through)
    return (
        select(*_COLUMNS)
        .join(version, version.c.vnumber == wanted.c.vnumber)
        .where(version.c.added <= through, stays)
        .order_by(version.c.vnumber)
    )


def activate(connection: Connection, number: int, after: int, through: int, at: int) -> None:
    """Record that a snapshot has the changes in (after, through]; forgets snapshots before it."""
    lock_numbers(connection, Numbers.CHANGE)
    insert_absent(connection, snapshot, [{"version": number, "through": through, "at": at}])
    known = connection.execute(
        select(snapshot.c.through).where(snapshot.c.version == number)
    ).scalar_one()
    if known != through:
        raise StateError(
            f"snapshot {number} was recorded with changes through {known}, now it is {through}"
        )
    span = and_(change.c.seq > after, change.c.seq <= through)
    stays = or_(version.c.removed.is_(None), version.c.removed > through)
    connection.execute(
        update(version)
        .where(version.c.vnumber.in_(select(change.c.added).where(span)))
        .where(version.c.activated_snapshot.is_(None), stays)
        .values(activated_snapshot=number, activated_at=at)
    )
    connection.execute(
        update(version)
        .where(version.c.vnumber.in_(select(change.c.removed).where(span)))
        .where(version.c.removed_snapshot.is_(None))
        .values(removed_snapshot=number, removed_at=at)
    )
    latest, _ = snapshot_at(connection)
    connection.execute(delete(snapshot).where(snapshot.c.version < latest))


def snapshot_at(connection: Connection) -> tuple[int, int]:
    """Return the latest recorded snapshot and its last change; (0, 0) if there is none."""
    query = select(snapshot.c.version, snapshot.c.through).order_by(snapshot.c.version.desc())
    row = connection.execute(query.limit(1)).one_or_none()
    return (row.version, row.through) if row else (0, 0)


def expire(database: Database) -> int:
    """Remove the changes that the latest recorded snapshot has; return how many."""
    removed = 0
    while count := _expire_piece(database):
        removed += count
    return removed


@repeatable
def _expire_piece(database: Database) -> int:
    with database.write(durable=False) as connection:
        lock_numbers(connection, Numbers.CHANGE)
        _, through = snapshot_at(connection)
        query = select(change.c.seq).where(change.c.seq <= through).order_by(change.c.seq)
        seqs = connection.execute(query.limit(_PIECE)).scalars().all()
        if seqs:
            connection.execute(delete(change).where(change.c.seq <= seqs[-1]))
    return len(seqs)


def owners(connection: Connection, after: int) -> Owners:
    """Return whom the versions above a number belong to."""
    number = func.coalesce(version.c.endpoint, -1)
    bundled = case((endpoint.c.url.startswith(TOPIC_SCHEME, autoescape=True), 1), else_=0)
    query = (
        select(version.c.vnumber, version.c.account, version.c.subscription, number, bundled)
        .outerjoin(endpoint, endpoint.c.number == version.c.endpoint)
        .where(version.c.vnumber > after)
        .order_by(version.c.vnumber)
    )
    numbers = chain.from_iterable(connection.execute(query))
    array = np.fromiter(numbers, np.int64).reshape(-1, 5)
    return Owners(*(np.ascontiguousarray(column) for column in array.T))


def _table(rows: Iterable[Row[*tuple[Any, ...]]]) -> pa.Table:
    found = list(rows)
    if not found:
        return SUBSCRIPTIONS.empty_table()
    vnumbers, *others = zip(*found, strict=True)
    columns = [[str(vnumber) for vnumber in vnumbers], *others]
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns, SUBSCRIPTIONS, strict=True)
    ]
    return _without_idle_predicates(pa.Table.from_arrays(arrays, schema=SUBSCRIPTIONS))


def _without_idle_predicates(table: pa.Table) -> pa.Table:
    """Take predicates away that have no geometry: such were accepted once, and mean nothing."""
    place = table.schema.get_field_index("predicate")
    has_geometry = pc.is_valid(table["geometry"])
    predicate = pc.if_else(has_geometry, table["predicate"], pa.scalar(None, pa.string()))
    return table.set_column(place, table.schema.field(place), predicate)
