"""What must hold before something is written for an account."""

from __future__ import annotations

from sqlalchemy import Connection, select

from geocast.errors import InputError
from geocast.repository.tables import account

__all__ = ["check_account"]


def check_account(connection: Connection, number: int) -> None:
    """Raise InputError unless there is an account of that number that has not been removed.

    It is not removed before the transaction ends, either.
    """
    query = select(account.c.number).where(account.c.number == number, account.c.removed.is_(None))
    if connection.execute(query.with_for_update(read=True)).one_or_none() is None:
        raise InputError(f"there is no account with the number {number}")
