"""Subscriptions: what accounts ask for, version by version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, Row, and_, func, or_, select

from geocast.model import now
from geocast.repository import changes, pauses, versions
from geocast.repository.database import Database
from geocast.repository.forget import forget_removed, pinned_snapshot
from geocast.repository.repeat import repeatable, repeated
from geocast.repository.statements import Numbers, lock_numbers
from geocast.repository.tables import pause, subscription, version, wanted
from geocast.repository.values import (
    Bounds,
    Changes,
    Owners,
    Status,
    Subscription,
    VersionFact,
    Wanted,
)

__all__ = ["Subscriptions"]

_STANDS: Final = subscription.c.cancelled.is_(None)
_CURRENT: Final = (
    select(
        subscription.c.number,
        subscription.c.id,
        subscription.c.account,
        subscription.c.created,
        subscription.c.changed,
        subscription.c.cancelled,
        version.c.version,
        version.c.endpoint,
        version.c.activated_at,
        pause.c.at.label("paused"),
        *wanted.c,
    )
    .join(version, version.c.vnumber == subscription.c.vnumber)
    .join(wanted, wanted.c.vnumber == subscription.c.vnumber)
    .outerjoin(pause, pause.c.subscription == subscription.c.number)
)


class Subscriptions:
    """The subscriptions of all accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, account: int, id: str | None, wanted: Wanted) -> Subscription:  # noqa: A002
        """Add a subscription, with a new id if none is given.

        Raises ConflictError if the account has a standing subscription of that id. An id that
        was cancelled can be used again; its versions go on counting.
        """
        return self.add_many(account, [(id, wanted)])[0]

    @repeated
    def add_many(
        self, account: int, entries: Sequence[tuple[str | None, Wanted]]
    ) -> list[Subscription]:
        """Add many subscriptions, or none if one of their ids is taken; returned in that order."""
        named = [(uuid4().hex if name is None else name, asked) for name, asked in entries]
        at = now()
        with self._database.write() as connection:
            places = versions.add_all(connection, account, named, at)
        return [
            Subscription(number, name, account, count, vnumber, asked, "pending", at, at, None)
            for (name, asked), (number, count, vnumber) in zip(named, places, strict=True)
        ]

    @repeated
    def replace(self, account: int, id: str, wanted: Wanted) -> Subscription | None:  # noqa: A002
        """Change what a standing subscription asks for: a new version; None if there is none.

        The version before stays active until a snapshot has the new one. A paused one stays
        paused.
        """
        with self._database.write() as connection:
            if not versions.replace(connection, account, id, wanted, now()):
                return None
            return _get(connection, account, id)

    @repeated
    def cancel(self, account: int, id: str) -> Subscription | None:  # noqa: A002
        """Cancel a standing subscription; None if there is none."""
        with self._database.write() as connection:
            if not versions.cancel(connection, account, id, now()):
                return None
            return _get(connection, account, id)

    @repeated
    def pause(self, account: int, id: str) -> Subscription | None:  # noqa: A002
        """Put a standing subscription out of force until it is resumed; None if there is none.

        From the next snapshot on it matches nothing; its id and its mailbox stay. Can be repeated.
        """
        with self._database.write() as connection:
            if not pauses.begin(connection, account, id, now()):
                return None
            return _get(connection, account, id)

    @repeated
    def resume(self, account: int, id: str) -> Subscription | None:  # noqa: A002
        """Let a paused subscription be active again, by a new version; None if there is none.

        One that is not paused stays as it is.
        """
        with self._database.write() as connection:
            lock_numbers(connection, Numbers.CHANGE)
            found = _get(connection, account, id)
            if found is None or found.status == "cancelled":
                return None
            if found.status == "paused":
                pauses.end(connection, account, id, found.wanted, now())
            return _get(connection, account, id)

    def get(self, account: int, id: str) -> Subscription | None:  # noqa: A002
        """Return a standing subscription."""
        with self._database.read() as connection:
            found = _get(connection, account, id)
        return found if found and found.status != "cancelled" else None

    def page(
        self, account: int, *, bbox: Bounds | None = None, after: int = 0, limit: int = 100
    ) -> list[Subscription]:
        """Return standing subscriptions with numbers above `after`, in that order.

        With `bbox` (west, south, east, north; west > east crosses the antimeridian) only those
        whose geometry's bounds meet it.
        """
        query = _CURRENT.where(
            subscription.c.account == account, _STANDS, subscription.c.number > after
        )
        if bbox is not None:
            query = query.where(_meets(bbox))
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(subscription.c.number).limit(limit)).all()
        return [_subscription(row) for row in rows]

    def count(self, account: int | None = None) -> int:
        """Return how many subscriptions stand: of one account, or in all."""
        query = select(func.count()).select_from(subscription).where(_STANDS)
        if account is not None:
            query = query.where(subscription.c.account == account)
        with self._database.read() as connection:
            return connection.execute(query).scalar_one()

    def history(self, account: int, id: str) -> list[VersionFact]:  # noqa: A002
        """Return the facts of all versions that are not forgotten, also of a cancelled one."""
        query = (
            select(version, *(column for column in wanted.c if column.name != "vnumber"))
            .join(wanted, wanted.c.vnumber == version.c.vnumber)
            .join(subscription, subscription.c.number == version.c.subscription)
            .where(subscription.c.account == account, subscription.c.id == id)
            .order_by(version.c.vnumber)
        )
        with self._database.read() as connection:
            return [_fact(row) for row in connection.execute(query)]

    def changes(self, after: int, limit: int) -> Changes:
        """Return what the next changes, at most `limit`, do to the set of standing versions.

        A version that they both add and remove is in neither list. Raises StateError if some of
        these changes have expired, or `after` was never made.
        """
        with self._database.read() as connection:
            return changes.changes(connection, after, limit)

    def standing(self, through: int, vnumbers: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """Yield the versions that stand after a change, or those of them that are asked for.

        The tables have the schema SUBSCRIPTIONS, ascending numbers and at most 10,000 rows.
        """
        return changes.standing(self._database, through, vnumbers)

    @repeatable
    def activate(self, snapshot: int, after: int, through: int, at: int) -> None:
        """Record that a snapshot version has the changes after `after` up to `through`.

        Can be repeated. Raises StateError if that version was recorded with other changes.
        """
        with self._database.write() as connection:
            changes.activate(connection, snapshot, after, through, at)

    def snapshot_at(self) -> tuple[int, int]:
        """Return the latest snapshot version that was recorded and the last change it has."""
        with self._database.read() as connection:
            return changes.snapshot_at(connection)

    def expire_changes(self) -> int:
        """Remove the changes that the latest recorded snapshot has; return how many.

        Whoever follows changes is past them; `standing` and `history` do not need them.
        """
        return changes.expire(self._database)

    def pinned_snapshot(self) -> int | None:
        """Return the oldest snapshot that an unfinished batch is pinned to, None if there is none.

        To be asked before it is looked what is still to be delivered, for `forget_removed`.
        """
        return pinned_snapshot(self._database)

    def forget_removed(self, before: int, pinned: int | None) -> int:
        """Remove versions that are out of force since before a time; return how many.

        `pinned` is what `pinned_snapshot` said. By `before` the caller says that since then no
        match of a publication from before that time was still to be delivered. A version that
        a batch or a mailbox still refers to stays. A cancelled subscription is forgotten with
        its last version, and its id can be used for another one.
        """
        return forget_removed(self._database, before, pinned)

    def owners(self, after: int) -> Owners:
        """Return whom the versions with numbers above `after` belong to, in ascending order."""
        with self._database.read() as connection:
            return changes.owners(connection, after)


def _get(connection: Connection, account: int, identifier: str) -> Subscription | None:
    query = _CURRENT.where(subscription.c.account == account, subscription.c.id == identifier)
    row = connection.execute(query).one_or_none()
    return _subscription(row) if row else None


def _meets(bbox: Bounds) -> ColumnElement[bool]:
    west, south, east, north = bbox
    reaches_east, reaches_west = wanted.c.east >= west, wanted.c.west <= east
    joined = or_ if west > east else and_
    return and_(
        joined(reaches_east, reaches_west), wanted.c.north >= south, wanted.c.south <= north
    )


def _subscription(row: Row[*tuple[Any, ...]]) -> Subscription:
    return Subscription(
        number=row.number,
        id=row.id,
        account=row.account,
        version=row.version,
        vnumber=row.vnumber,
        wanted=_wanted(row),
        status=_status(row),
        created=row.created,
        changed=row.changed,
        activated=row.activated_at,
    )


def _status(row: Row[*tuple[Any, ...]]) -> Status:
    if row.cancelled is not None:
        return "cancelled"
    if row.paused is not None:
        return "paused"
    return "pending" if row.activated_at is None else "active"


def _wanted(row: Row[*tuple[Any, ...]]) -> Wanted:
    bounds = None if row.west is None else (row.west, row.south, row.east, row.north)
    properties = json.loads(row.properties)
    return Wanted(row.geometry, row.predicate, row.filter, properties, row.endpoint, bounds)


def _fact(row: Row[*tuple[Any, ...]]) -> VersionFact:
    return VersionFact(
        vnumber=row.vnumber,
        version=row.version,
        wanted=_wanted(row),
        created=row.created,
        added=row.added,
        removed=row.removed,
        activated_snapshot=row.activated_snapshot,
        activated_at=row.activated_at,
        removed_snapshot=row.removed_snapshot,
        removed_at=row.removed_at,
    )
