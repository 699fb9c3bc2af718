"""Pausing: what a subscription asks for is out of force for a while, as if it were cancelled."""

from __future__ import annotations

from sqlalchemy import Connection, delete

from geocast.repository.statements import Numbers, insert_rows, lock_numbers, take_numbers
from geocast.repository.tables import pause, subscription
from geocast.repository.values import Wanted
from geocast.repository.versions import newest, put_version, remove

__all__ = ["begin", "end"]


def begin(connection: Connection, account: int, identifier: str, at: int) -> bool:
    """Remove the newest version of a subscription, which stays; False if it does not stand.

    One that is paused already stays as it is.
    """
    lock_numbers(connection, Numbers.CHANGE)
    found = newest(connection, account, identifier)
    if found is None:
        return False
    if not found.paused:
        remove(connection, [found.vnumber])
        insert_rows(connection, pause, [(found.number, at)])
        changed = subscription.update().where(subscription.c.number == found.number)
        connection.execute(changed.values(changed=at))
    return True


def end(connection: Connection, account: int, identifier: str, asked: Wanted, at: int) -> None:
    """Add a version that asks for the same as the newest of a paused subscription.

    The caller has locked the changes, and seen that it is paused.
    """
    found = newest(connection, account, identifier)
    assert found is not None
    assert found.paused
    vnumber = take_numbers(connection, Numbers.VERSION, 1)
    put_version(connection, account, found, (vnumber, asked), at, None)
    connection.execute(delete(pause).where(pause.c.subscription == found.number))
