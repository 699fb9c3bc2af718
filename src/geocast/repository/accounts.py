"""Accounts and their tokens. Of a token only the SHA-256 is kept."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

from geocast.errors import ConflictError, InputError
from geocast.model import Account, Right, check_account_name, now
from geocast.repository.acknowledge import remove_rows
from geocast.repository.checks import check_account
from geocast.repository.database import Database
from geocast.repository.repeat import repeated
from geocast.repository.statements import upsert
from geocast.repository.tables import account, bundle, endpoint, link, mailbox, token
from geocast.repository.values import TokenInfo
from geocast.repository.versions import cancel_all

__all__ = ["Accounts", "by_number", "hashed", "insert_token"]

_COLUMNS: Final = (account.c.number, account.c.name, account.c.rights, account.c.created)
_STANDS: Final = account.c.removed.is_(None)
_BY_TOKEN: Final = (
    select(*_COLUMNS)
    .join(token, token.c.account == account.c.number)
    .where(_STANDS, token.c.hash == bindparam("hash"))
    .where(or_(token.c.expires.is_(None), token.c.expires > bindparam("time")))
)


class Accounts:
    """Who may do what, and the tokens they show."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, rights: Iterable[Right]) -> Account:
        """Add an account; raises ConflictError if the name is taken, InputError if it is none.

        The name of a removed account stays taken: its publications still go by it.
        """
        check_account_name(name)
        return self._add(name, _text(rights))

    @repeated
    def _add(self, name: str, text: str) -> Account:
        at = now()
        with self._database.write() as connection:
            added = upsert(connection, account).values(name=name, rights=text, created=at)
            unless_taken = added.on_conflict_do_nothing(index_elements=["name"])
            found = connection.execute(unless_taken.returning(account.c.number))
            number = found.scalar_one_or_none()
            if number is None:
                raise _taken(connection, name)
        return Account(number, name, _rights(text), at)

    def get(self, name: str) -> Account | None:
        """Return the account of that name."""
        with self._database.read() as connection:
            return _find(connection, name)

    def page(self, after: str | None = None, limit: int = 100) -> list[Account]:
        """Return accounts by name, those that follow the name `after`."""
        query = select(*_COLUMNS).where(_STANDS, account.c.name > (after or ""))
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(account.c.name).limit(limit)).all()
        return [_account(row) for row in rows]

    def set_rights(self, name: str, rights: Iterable[Right]) -> Account:
        """Give an account these rights and no others; raises InputError if there is none."""
        found = self._set_rights(name, _text(rights))
        if found is None:
            raise InputError(f"there is no account {name!r}")
        return found

    @repeated
    def _set_rights(self, name: str, text: str) -> Account | None:
        change = update(account).where(_STANDS, account.c.name == name)
        with self._database.write() as connection:
            connection.execute(change.values(rights=text))
            return _find(connection, name)

    def remove(self, name: str) -> bool:
        """Remove an account with its tokens, webhooks and mailbox, and cancel its subscriptions.

        False if there is none. No other account can get its name.
        """
        number = self._remove(name)
        if number is None:
            return False
        remove_rows(self._database, [mailbox.c.account == number])
        remove_rows(self._database, [bundle.c.account == number], bundle)
        return True

    @repeated
    def _remove(self, name: str) -> int | None:
        at = now()
        query = select(account.c.number).where(_STANDS, account.c.name == name)
        with self._database.write() as connection:
            number = connection.execute(query.with_for_update()).scalar_one_or_none()
            if number is None:
                return None
            cancel_all(connection, number, at)
            connection.execute(delete(token).where(token.c.account == number))
            connection.execute(delete(link).where(link.c.account == number))
            connection.execute(delete(endpoint).where(endpoint.c.account == number))
            connection.execute(update(account).where(account.c.number == number).values(removed=at))
        return int(number)

    @repeated
    def issue_token(
        self, account: int, label: str = "", expires: int | None = None
    ) -> tuple[int, str]:
        """Make a token and return its number and its text, which cannot be had again."""
        with self._database.write() as connection:
            check_account(connection, account)
            return insert_token(connection, account, label, expires)

    def authenticate(self, token: str) -> Account | None:
        """Return the account that a token belongs to, unless it is revoked or has expired."""
        with self._database.read() as connection:
            found = connection.execute(_BY_TOKEN, {"hash": hashed(token), "time": now()})
            row = found.one_or_none()
        return _account(row) if row else None

    def tokens(self, account: int) -> list[TokenInfo]:
        """Return what is known of an account's tokens, in the order in which they were made."""
        query = select(token.c.number, token.c.label, token.c.created, token.c.expires)
        with self._database.read() as connection:
            rows = connection.execute(
                query.where(token.c.account == account).order_by(token.c.number)
            ).all()
        return [TokenInfo(*row) for row in rows]

    @repeated
    def revoke(self, account: int, token_number: int) -> bool:
        """Remove a token of an account; False if it has none of that number."""
        removal = delete(token).where(token.c.account == account, token.c.number == token_number)
        with self._database.write() as connection:
            return connection.execute(removal).rowcount > 0


def insert_token(
    connection: Connection, account: int, label: str, expires: int | None
) -> tuple[int, str]:
    """Make a token; return its number and its text."""
    text = "gct_" + secrets.token_urlsafe(32)
    values = {"account": account, "label": label, "created": now(), "expires": expires}
    added = insert(token).values(hash=hashed(text), **values).returning(token.c.number)
    number: int = connection.execute(added).scalar_one()
    return number, text


def by_number(connection: Connection, number: int) -> Account | None:
    """Return an account by its number."""
    query = select(*_COLUMNS).where(_STANDS, account.c.number == number)
    row = connection.execute(query).one_or_none()
    return _account(row) if row else None


def hashed(text: str) -> bytes:
    """Return what is kept of a secret."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _find(connection: Connection, name: str) -> Account | None:
    query = select(*_COLUMNS).where(_STANDS, account.c.name == name)
    row = connection.execute(query).one_or_none()
    return _account(row) if row else None


def _taken(connection: Connection, name: str) -> ConflictError:
    query = select(account.c.removed).where(account.c.name == name)
    if connection.execute(query).scalar_one() is None:
        return ConflictError(f"there is an account {name!r} already")
    return ConflictError(f"the account {name!r} was removed, and its name is not given again")


def _account(row: Row[*tuple[Any, ...]]) -> Account:
    return Account(row.number, row.name, _rights(row.rights), row.created)


def _text(rights: Iterable[Right]) -> str:
    return ",".join(sorted({Right(right).value for right in rights}))


def _rights(text: str) -> frozenset[Right]:
    return frozenset(Right(name) for name in text.split(",") if name)
