"""Mailboxes: what accounts are told, in order, until they acknowledge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, case, func, literal_column, or_, select

from geocast.errors import InputError
from geocast.model import (
    Account,
    Bundle,
    Kind,
    MatchRecord,
    Notification,
    match_id,
    now,
    publication_key,
    split_key,
)
from geocast.repository import acknowledge, delivery, withdrawals
from geocast.repository.database import Database
from geocast.repository.dead_letters import insert_letters
from geocast.repository.handover import Names, hand_over
from geocast.repository.locks import Guards, guard
from geocast.repository.owners import OwnerCache
from geocast.repository.repeat import repeatable, repeated
from geocast.repository.statements import Numbers, among, chunks, upsert
from geocast.repository.tables import (
    body,
    bundle,
    delivered,
    event,
    mailbox,
    version,
)
from geocast.repository.tables import (
    endpoint as endpoints,
)
from geocast.repository.tables import (
    subscription as subscriptions,
)
from geocast.repository.values import DeadLetter, Withdrawn

__all__ = ["MOST_BYTES", "Mailbox"]

MOST_BYTES: Final = 16 << 20
"""How much the features of the notifications that are read at once have together, about."""

_LATEST: Final = f"SELECT value FROM counter WHERE name = '{Numbers.CURSOR}'"
_LATEST_VERSION: Final = f"SELECT value FROM counter WHERE name = '{Numbers.VERSION}'"
# Large features are read apart, once for all rows that show them and no more than are returned.
_SMALL: Final = 16 << 10
_READ: Final = (
    select(
        mailbox.c.cursor,
        mailbox.c.kind,
        mailbox.c.notified,
        mailbox.c.subscription,
        subscriptions.c.id,
        version.c.version,
        event.c.partition,
        event.c.offset,
        event.c.key,
        event.c.published,
        mailbox.c.event,
        func.length(body.c.feature).label("size"),
        case((func.length(body.c.feature) <= _SMALL, body.c.feature)).label("feature"),
    )
    .join(event, event.c.number == mailbox.c.event)
    .join(subscriptions, subscriptions.c.number == mailbox.c.subscription)
    .join(version, version.c.vnumber == mailbox.c.vnumber)
    .outerjoin(body, body.c.event == mailbox.c.event)
)


class Mailbox:
    """The mailboxes of all accounts, in one order of cursors."""

    def __init__(self, database: Database, deployment: str) -> None:
        self._database = database
        self._deployment = deployment
        self._owners = OwnerCache(database)
        self._names = Names()

    def position(self, consumer: str, partition: int) -> int:
        """Return the offset of the match log that a consumer goes on from."""
        with self._database.read() as connection:
            return delivery.stored_position(connection, consumer, partition)

    @repeated
    def deliver(
        self,
        consumer: str,
        partition: int,
        start: int,
        stop: int,
        records: Sequence[MatchRecord],
        letters: Sequence[DeadLetter] = (),
    ) -> int:
        """Put matches into mailboxes and move the consumer from `start` to `stop`, or neither.

        Publications that are there already, or withdrawn, are left out; `letters` are what could
        not be read between `start` and `stop`, and become dead letters. Returns how many
        notifications were added. Raises StateError if the consumer is not at `start`, or if
        there is no such subscription version.
        """
        self._owners.reach(max((max(r.versions, default=0) for r in records), default=0))
        with self._database.write() as connection:
            delivery.advance(connection, consumer, partition, start, stop)
            insert_letters(connection, letters)
            return delivery.insert_matches(connection, records, self._owners, now())

    def read(
        self,
        account: int,
        *,
        after: int = 0,
        limit: int,
        subscription: str | None = None,
        endpoint: int | None = None,
        newest: bool = False,
    ) -> list[Notification]:
        """Return an account's notifications above a cursor, in order; the `newest` first, if so.

        `subscription` limits them to a subscription by its id, `endpoint` to a webhook by its
        number; what goes to a topic is not among them. There may be fewer than `limit` where they
        are large: together, their features have about `MOST_BYTES`.
        """
        query = _READ.where(mailbox.c.account == account, mailbox.c.cursor > after)
        if endpoint is not None:
            query = query.where(mailbox.c.endpoint == endpoint)
        with self._database.read() as connection:
            if subscription is not None:
                number = _number(connection, account, subscription)
                query = query.where(mailbox.c.subscription == number)
            order = mailbox.c.cursor.desc() if newest else mailbox.c.cursor
            rows = _bounded(connection.execute(query.order_by(order).limit(limit)).all())
            large = _large_features(connection, rows)
        return [self._notification(row, large) for row in rows]

    def latest(self) -> int:
        """Return the newest cursor that was given to a notification; cheap."""
        return int(self._database.peek(_LATEST))

    def accounts_after(self, cursor: int) -> dict[int, int]:
        """Return the accounts that have notifications above a cursor, each with its newest."""
        # A sum cannot be looked up in an index: what is new is found by cursor, then grouped.
        account = (mailbox.c.account + literal_column("0")).label("number")
        query = select(account, func.max(mailbox.c.cursor).label("newest"))
        grouped = query.where(mailbox.c.cursor > cursor).group_by(account)
        with self._database.read() as connection:
            return {row.number: row.newest for row in connection.execute(grouped)}

    @repeatable
    def mark_delivered(
        self, account: int, notifications: Sequence[Notification]
    ) -> list[Notification]:
        """Mark notifications as seen, right before they are sent; return those that may be.

        What was withdrawn or acknowledged since it was read is not among them. A publication
        that is withdrawn from now on gets a notice.
        """
        with self._database.write(durable=False) as connection:
            guard(connection, Guards.SEEN, shared=True)
            there = _there(connection, account, [one.cursor for one in notifications])
            standing = [one for one in notifications if one.cursor in there]
            _mark(connection, account, standing)
        return standing

    @repeatable
    def hand_over(self, topic: int, *, limit: int, max_bytes: int = MOST_BYTES) -> list[Bundle]:
        """Return the first bundles that wait for a topic, by its number, and mark them as seen.

        What was withdrawn by then is not among them; of what is withdrawn from now on there is a
        notice. They have at most `limit` matches, and about `max_bytes`; but it is at least one.
        """
        self._owners.reach(int(self._database.peek(_LATEST_VERSION)))
        with self._database.write(durable=False) as connection:
            guard(connection, Guards.SEEN, shared=True)
            handed = hand_over(connection, self._names, self._owners, topic, limit, max_bytes)
        return handed.bundles(self._deployment) if handed else []

    def take_out(self, topic: int, first: int, last: int) -> int:
        """Remove bundles that were handed over for a topic, by their cursors; return how many."""
        span = bundle.c.cursor.between(first, last)
        return acknowledge.remove_at_once(self._database, bundle, bundle.c.endpoint == topic, span)

    def acknowledge(
        self,
        account: int,
        *,
        through: int | None = None,
        cursors: Sequence[int] = (),
        subscription: str | None = None,
        by_reader: bool = False,
    ) -> int:
        """Remove notifications that an account has dealt with; return how many.

        Up to a cursor, or single ones, or both; with `subscription` only those of that id, and
        all of them if no cursor is given. `by_reader` leaves alone what a webhook has
        still to get, unless that one is parked.
        """
        if through is None and not cursors and subscription is None:
            raise InputError("nothing to acknowledge: give `through`, `cursors` or `subscription`")
        number = None
        if subscription is not None:
            with self._database.read() as connection:
                number = _number(connection, account, subscription)
            if number is None:
                return 0
        conditions = [mailbox.c.account == account]
        if number is not None:
            conditions.append(mailbox.c.subscription == number)
        if by_reader:
            conditions.append(self._for_readers(account))
        removed = acknowledge.remove_cursors(self._database, conditions, cursors)
        if through is not None:
            conditions.append(mailbox.c.cursor <= through)
        if through is not None or not cursors:
            removed += acknowledge.remove_rows(self._database, conditions)
        return removed

    @repeated
    def withdraw(
        self,
        publisher: Account,
        id: str,  # noqa: A002
        *,
        published: int | None = None,
    ) -> Withdrawn:
        """Withdraw a publication, also one that has not been matched yet; can be repeated.

        Nobody who has not seen it will; everybody else gets a notice. `published` is its time
        in its log: the same id published after that is another publication. Without it,
        everything published by now is meant.
        """
        at = now()
        until = at if published is None else published
        key = publication_key(publisher.name, id)
        self._owners.reach(int(self._database.peek(_LATEST_VERSION)))
        with self._database.write() as connection:
            return withdrawals.withdraw(connection, key, until, self._owners, at)

    def knows(self, publisher_name: str, id: str) -> bool:  # noqa: A002
        """Whether a publication was matched, and is not forgotten since, or was withdrawn."""
        with self._database.read() as connection:
            return withdrawals.is_known(connection, publication_key(publisher_name, id))

    def expire(self, before: int, *, settled: int | None = None) -> int:
        """Remove notifications that are older than a time; return how many.

        A withdrawal has to outlive whatever it keeps out of the mailboxes. So it is forgotten
        only if it is also of before `settled`, by which the caller says that nothing published
        until then can still be matched or delivered; without it, none is.
        """
        return acknowledge.expire(self._database, before, settled)

    def depth(self, account: int | None = None) -> int:
        """Return how many notifications wait: of one account, or in all; those for topics, too."""
        rows = select(func.count()).select_from(mailbox)
        bundled = select(func.coalesce(func.sum(bundle.c.matches), 0))
        if account is not None:
            rows = rows.where(mailbox.c.account == account)
            bundled = bundled.where(bundle.c.account == account)
        with self._database.read() as connection:
            return sum(int(connection.execute(query).scalar_one()) for query in (rows, bundled))

    def waiting(self, account: int) -> dict[str, int]:
        """Return how many notifications wait to be acknowledged, by the id of the subscription."""
        counted = select(mailbox.c.subscription, func.count().label("count"))
        mine = counted.where(mailbox.c.account == account).group_by(mailbox.c.subscription)
        found = mine.subquery()
        query = select(subscriptions.c.id, found.c.count).join(
            subscriptions, subscriptions.c.number == found.c.subscription
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def withdrawn(self, keys: Sequence[str]) -> dict[str, int]:
        """Return those of the publications' keys that were withdrawn, each up to which time."""
        with self._database.read() as connection:
            return withdrawals.withdrawn(connection, keys)

    def _for_readers(self, account: int) -> ColumnElement[bool]:
        """The rows of an account that nobody but its readers can take out of the mailbox."""
        parked = select(endpoints.c.number).where(
            endpoints.c.account == account, endpoints.c.state == "parked"
        )
        with self._database.read() as connection:
            numbers = connection.execute(parked).scalars().all()
        return or_(mailbox.c.endpoint.is_(None), mailbox.c.endpoint.in_(numbers))

    def _notification(self, row: Row[*tuple[Any, ...]], large: Mapping[int, bytes]) -> Notification:
        publisher, publication = split_key(row.key)
        return Notification(
            cursor=row.cursor,
            match=match_id(
                self._deployment, row.partition, row.offset, row.subscription, row.version
            ),
            kind=Kind(row.kind),
            subscription=row.id,
            version=row.version,
            publisher=publisher,
            publication=publication,
            published=row.published,
            notified=row.notified,
            feature=row.feature or large.get(row.event, b""),
        )


def _bounded(rows: Sequence[Row[*tuple[Any, ...]]]) -> Sequence[Row[*tuple[Any, ...]]]:
    """The first rows, one at least, whose features are not too much to be held at once."""
    total = 0
    for count, row in enumerate(rows):
        total += row.size or 0
        if count and total > MOST_BYTES:
            return rows[:count]
    return rows


def _large_features(
    connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]
) -> dict[int, bytes]:
    events = sorted({row.event for row in rows if (row.size or 0) > _SMALL})
    found: dict[int, bytes] = {}
    for part in chunks(events):
        query = select(body.c.event, body.c.feature).where(among(connection, body.c.event, part))
        found.update((row.event, row.feature) for row in connection.execute(query))
    return found


def _number(connection: Connection, account: int, identifier: str) -> int | None:
    query = select(subscriptions.c.number).where(
        subscriptions.c.account == account, subscriptions.c.id == identifier
    )
    return connection.execute(query).scalar_one_or_none()


def _there(connection: Connection, account: int, cursors: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for part in chunks(cursors):
        query = select(mailbox.c.cursor).where(
            mailbox.c.account == account, among(connection, mailbox.c.cursor, part)
        )
        found.update(connection.execute(query).scalars())
    return found


def _mark(connection: Connection, account: int, notifications: Sequence[Notification]) -> None:
    highest: dict[str, int] = {}
    for one in notifications:
        highest[one.subscription] = max(one.cursor, highest.get(one.subscription, 0))
    rows: list[dict[str, int]] = []
    for part in chunks(highest):
        query = select(subscriptions.c.number, subscriptions.c.id).where(
            subscriptions.c.account == account, subscriptions.c.id.in_(part)
        )
        found = connection.execute(query)
        rows += [{"subscription": row.number, "cursor": highest[row.id]} for row in found]
    if rows:
        rows.sort(key=lambda row: row["subscription"])
        put = upsert(connection, delivered)
        later = put.on_conflict_do_update(
            index_elements=["subscription"],
            set_={"cursor": put.excluded.cursor},
            where=delivered.c.cursor < put.excluded.cursor,
        )
        connection.execute(later, rows)
