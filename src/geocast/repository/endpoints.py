"""Webhooks and topics: where notifications are sent to, and how that fares."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, exists, or_, select, update

from geocast.model import now
from geocast.repository.checks import check_account
from geocast.repository.database import Database
from geocast.repository.repeat import repeatable, repeated
from geocast.repository.statements import upsert
from geocast.repository.tables import account as account_table
from geocast.repository.tables import bundle, endpoint, mailbox
from geocast.repository.values import Endpoint, EndpointState

__all__ = ["Endpoints"]


class Endpoints:
    """The webhooks and topics of all accounts; an account has one endpoint a URL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def put(self, account: int, url: str, secret: str) -> Endpoint:
        """Return the account's endpoint of that URL, made if there is none, with this secret."""
        row = {"account": account, "url": url, "secret": secret, "changed": now()}
        with self._database.write() as connection:
            check_account(connection, account)
            made = upsert(connection, endpoint).values(state="active", attempts=0, **row)
            put = made.on_conflict_do_update(
                index_elements=["account", "url"],
                set_={"secret": made.excluded.secret, "changed": made.excluded.changed},
            )
            return Endpoint(*connection.execute(put.returning(endpoint)).one())

    def get(self, account: int, number: int) -> Endpoint | None:
        """Return an endpoint of an account."""
        query = select(endpoint).where(endpoint.c.account == account, endpoint.c.number == number)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return Endpoint(*row) if row else None

    def page(
        self, account: int | None = None, state: EndpointState | None = None
    ) -> list[Endpoint]:
        """Return endpoints by number: of one account or all, in one state or any."""
        query = select(endpoint).order_by(endpoint.c.number)
        if account is not None:
            query = query.where(endpoint.c.account == account)
        if state is not None:
            query = query.where(endpoint.c.state == state)
        with self._database.read() as connection:
            return [Endpoint(*row) for row in connection.execute(query)]

    def parked(self, limit: int) -> list[tuple[str, Endpoint]]:
        """Return those of all accounts that are parked, with the account's name, the last first."""
        query = (
            select(account_table.c.name, endpoint)
            .join_from(endpoint, account_table, account_table.c.number == endpoint.c.account)
            .where(endpoint.c.state == "parked")
            .order_by(endpoint.c.changed.desc(), endpoint.c.number.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [(name, Endpoint(*rest)) for name, *rest in connection.execute(query)]

    def succeeded(self, number: int, *, status: int | None = None) -> None:
        """Record that a notification was taken: nothing failed since."""
        trouble = or_(
            endpoint.c.attempts > 0,
            endpoint.c.next_try.isnot(None),
            endpoint.c.last_error.isnot(None),
            endpoint.c.last_status.is_distinct_from(status),
        )
        query = select(endpoint.c.number).where(endpoint.c.number == number, trouble)
        with self._database.read() as connection:
            if connection.execute(query).one_or_none() is None:
                return
        self._set(number, attempts=0, next_try=None, last_error=None, last_status=status)

    def failed(self, number: int, error: str, next_try: int, *, status: int | None = None) -> None:
        """Record a failed attempt and when the next one is due."""
        self._set(
            number,
            attempts=endpoint.c.attempts + 1,
            next_try=next_try,
            last_error=error,
            last_status=status,
        )

    def park(self, number: int, error: str, *, status: int | None = None) -> None:
        """Give an endpoint up until it is resumed."""
        self._set(number, state="parked", next_try=None, last_error=error, last_status=status)

    @repeatable
    def resume(self, account: int, number: int) -> bool:
        """Try an endpoint of an account again, from now on; False if it has none of that number."""
        afresh = {"state": "active", "attempts": 0, "next_try": None, "changed": now()}
        change = update(endpoint).where(endpoint.c.account == account, endpoint.c.number == number)
        with self._database.write() as connection:
            return connection.execute(change.values(afresh)).rowcount > 0

    def active_with_mail(self) -> list[Endpoint]:
        """Return the active endpoints that notifications wait for."""
        mail = exists().where(
            and_(mailbox.c.endpoint == endpoint.c.number, mailbox.c.endpoint.isnot(None))
        )
        bundles = exists().where(bundle.c.endpoint == endpoint.c.number)
        query = select(endpoint).where(endpoint.c.state == "active", or_(mail, bundles))
        with self._database.read() as connection:
            return [Endpoint(*row) for row in connection.execute(query.order_by(endpoint.c.number))]

    @repeated
    def _set(self, number: int, **values: Any) -> None:
        with self._database.write() as connection:
            connection.execute(
                update(endpoint).where(endpoint.c.number == number).values(changed=now(), **values)
            )
