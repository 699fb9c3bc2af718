"""What must hold before something is written for an account."""

from __future__ import annotations

from sqlalchemy import Connection, select

from geocast.errors import InputError
from geocast.repository.tables import account

__all__ = ["check_account"]


def check_account(connection: Connection, number: int) -> None:
    """Raise InputError unless there is an account of that number that has not been removed."""
    query = select(account.c.number).where(account.c.number == number, account.c.removed.is_(None))
    if connection.execute(query).one_or_none() is None:
        raise InputError(f"there is no account with the number {number}")
