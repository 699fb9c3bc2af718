"""Links to sign in by: each is good once, and for a short while. Only its SHA-256 is kept."""

from __future__ import annotations

import secrets
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from geocast.model import MICROSECONDS, Account, now
from geocast.repository.accounts import by_number, hashed, insert_token
from geocast.repository.checks import check_account
from geocast.repository.database import Database
from geocast.repository.repeat import repeated
from geocast.repository.tables import link, token

__all__ = ["Links"]

_LABEL: Final = "signed in by a link"
_SIGNED_IN_SECONDS: Final = 30 * 86_400


class Links:
    """Links that have not been used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeated
    def issue(self, account: int, seconds: int, *, by: str | None = None) -> tuple[str, int]:
        """Make a link of an account; return its code, which cannot be had again, and its end.

        Whoever redeems it is signed in for 30 days, or for as long as the token `by` which it
        was asked for.
        """
        code, at = secrets.token_urlsafe(24), now()
        expires = at + seconds * MICROSECONDS
        with self._database.write() as connection:
            check_account(connection, account)
            _tidy(connection, account, at)
            until = at + _SIGNED_IN_SECONDS * MICROSECONDS
            if by is not None:
                query = select(token.c.expires).where(token.c.hash == hashed(by))
                until = min(until, connection.execute(query).scalar_one_or_none() or until)
            row = {"hash": hashed(code), "account": account, "expires": expires, "until": until}
            connection.execute(insert(link).values(row))
        return code, expires

    @repeated
    def redeem(self, code: str) -> tuple[Account, str] | None:
        """Use a link up: return its account and a new token of it; None if it is not good."""
        mine, at = link.c.hash == hashed(code), now()
        with self._database.read() as connection:
            if connection.execute(select(link.c.account).where(mine)).first() is None:
                return None
        with self._database.write() as connection:
            used = delete(link).where(mine).returning(link.c.account, link.c.expires, link.c.until)
            row = connection.execute(used).one_or_none()
            if row is None or min(row.expires, row.until) <= at:
                return None
            found = by_number(connection, row.account)
            if found is None:
                return None
            _, text = insert_token(connection, row.account, _LABEL, row.until)
        return found, text


def _tidy(connection: Connection, account: int, at: int) -> None:
    """Remove links that are over, and what the account signed in by long ago."""
    connection.execute(delete(link).where(link.c.expires <= at))
    mine = (token.c.account == account, token.c.label == _LABEL)
    connection.execute(delete(token).where(*mine, token.c.expires <= at))
