"""How subscriptions change: each change is one row of a sequence that snapshots follow.

A replacement adds one version and removes another in a single row, so that no snapshot can have
both or neither.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from geocast.errors import ConflictError
from geocast.repository.checks import check_account
from geocast.repository.statements import (
    Numbers,
    chunks,
    insert_rows,
    lock_numbers,
    take_numbers,
)
from geocast.repository.tables import change, pause, subscription, version, wanted
from geocast.repository.values import Wanted

__all__ = [
    "Newest",
    "add_all",
    "cancel",
    "cancel_all",
    "newest",
    "put_version",
    "remove",
    "replace",
]

_STANDING: Final = (
    select(subscription.c.number, subscription.c.vnumber, pause.c.at)
    .outerjoin(pause, pause.c.subscription == subscription.c.number)
    .where(subscription.c.cancelled.is_(None))
)


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest version of a standing subscription."""

    number: int
    vnumber: int
    version: int
    paused: bool


def add_all(
    connection: Connection, account: int, entries: Sequence[tuple[str, Wanted]], at: int
) -> list[tuple[int, int, int]]:
    """Add subscriptions; return number, version and version number of each.

    An id that was cancelled stands again, with versions that go on counting. Raises
    ConflictError if the account has one of the ids standing, InputError if it is not there.
    """
    check_account(connection, account)
    lock_numbers(connection, Numbers.CHANGE)
    ids = [identifier for identifier, _ in entries]
    _check_distinct(ids)
    earlier = _earlier(connection, account, ids)
    fresh = [one for one in ids if one not in earlier]
    numbers = dict(zip(fresh, _range(connection, Numbers.SUBSCRIPTION, len(fresh)), strict=True))
    places = {one: (numbers[one], 1) for one in fresh} | earlier
    vnumbers = _range(connection, Numbers.VERSION, len(ids))
    newest = dict(zip(ids, vnumbers, strict=True))
    rows = ((numbers[one], account, one, newest[one], at, at, None) for one in fresh)
    insert_rows(connection, subscription, rows)
    _stand_again(connection, [(places[one][0], newest[one]) for one in earlier], at)
    seqs = _range(connection, Numbers.CHANGE, len(ids))
    insert_rows(connection, change, zip(seqs, vnumbers, repeat(None), strict=False))
    added = [
        (vnumber, places[one], seq, asked)
        for vnumber, seq, (one, asked) in zip(vnumbers, seqs, entries, strict=True)
    ]
    _insert_versions(connection, account, at, added)
    return [(*places[one], newest[one]) for one in ids]


def replace(connection: Connection, account: int, identifier: str, asked: Wanted, at: int) -> bool:
    """Add a version in the place of the newest; False if no such subscription stands.

    That of a paused subscription is removed by the change that adds it, so that no snapshot has
    it.
    """
    lock_numbers(connection, Numbers.CHANGE)
    found = newest(connection, account, identifier)
    if found is None:
        return False
    vnumber = take_numbers(connection, Numbers.VERSION, 1)
    removed = vnumber if found.paused else found.vnumber
    put_version(connection, account, found, (vnumber, asked), at, removed)
    return True


def newest(connection: Connection, account: int, identifier: str) -> Newest | None:
    """Return the newest version of a subscription; None if no such subscription stands."""
    query = (
        _STANDING.add_columns(version.c.version)
        .join(version, version.c.vnumber == subscription.c.vnumber)
        .where(subscription.c.account == account, subscription.c.id == identifier)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Newest(row.number, row.vnumber, row.version, row.at is not None)


def put_version(
    connection: Connection,
    account: int,
    before: Newest,
    asked: tuple[int, Wanted],
    at: int,
    removed: int | None,
) -> None:
    """Add the next version, a number and what is wanted, in one change that removes another."""
    vnumber, wanted_now = asked
    seq = take_numbers(connection, Numbers.CHANGE, 1)
    insert_rows(connection, change, [(seq, vnumber, removed)])
    place = (before.number, before.version + 1)
    _insert_versions(connection, account, at, [(vnumber, place, seq, wanted_now)])
    if removed is not None:
        connection.execute(update(version).where(version.c.vnumber == removed).values(removed=seq))
    connection.execute(
        update(subscription)
        .where(subscription.c.number == before.number)
        .values(vnumber=vnumber, changed=at)
    )


def cancel(connection: Connection, account: int, identifier: str, at: int) -> bool:
    """Cancel a subscription; False if no such subscription stands."""
    lock_numbers(connection, Numbers.CHANGE)
    mine = (subscription.c.account == account, subscription.c.id == identifier)
    found = connection.execute(_STANDING.where(*mine)).all()
    _cancel(connection, found, at)
    return bool(found)


def cancel_all(connection: Connection, account: int, at: int) -> None:
    """Cancel all subscriptions of an account."""
    lock_numbers(connection, Numbers.CHANGE)
    query = _STANDING.where(subscription.c.account == account).order_by(subscription.c.number)
    _cancel(connection, connection.execute(query).all(), at)


def _cancel(connection: Connection, found: Sequence[Row[*tuple[Any, ...]]], at: int) -> None:
    if not found:
        return
    remove(connection, [row.vnumber for row in found if row.at is None])
    for part in chunks(row.number for row in found if row.at is not None):
        connection.execute(delete(pause).where(pause.c.subscription.in_(part)))
    connection.execute(
        update(subscription)
        .where(subscription.c.number == bindparam("which"))
        .values(cancelled=at, changed=at),
        [{"which": row.number} for row in found],
    )


def remove(connection: Connection, vnumbers: Sequence[int]) -> None:
    """Remove versions, each by a change of its own."""
    if not vnumbers:
        return
    seqs = _range(connection, Numbers.CHANGE, len(vnumbers))
    pairs = list(zip(seqs, vnumbers, strict=True))
    insert_rows(connection, change, ((seq, None, vnumber) for seq, vnumber in pairs))
    connection.execute(
        update(version)
        .where(version.c.vnumber == bindparam("old"))
        .values(removed=bindparam("by")),
        [{"old": vnumber, "by": seq} for seq, vnumber in pairs],
    )


def _check_distinct(ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            raise ConflictError(f"the subscription id {identifier!r} is given twice")
        seen.add(identifier)


def _earlier(
    connection: Connection, account: int, ids: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """The cancelled subscriptions that have one of the ids: number and next version."""
    found: dict[str, tuple[int, int]] = {}
    columns = (subscription.c.id, subscription.c.number, subscription.c.cancelled)
    for part in chunks(ids):
        query = (
            select(*columns, version.c.version)
            .join(version, version.c.vnumber == subscription.c.vnumber)
            .where(subscription.c.account == account, subscription.c.id.in_(part))
        )
        for row in connection.execute(query):
            if row.cancelled is None:
                raise ConflictError(f"there is a subscription {row.id!r} already")
            found[row.id] = (row.number, row.version + 1)
    return found


def _stand_again(connection: Connection, pairs: Sequence[tuple[int, int]], at: int) -> None:
    if pairs:
        connection.execute(
            update(subscription)
            .where(subscription.c.number == bindparam("which"))
            .values(vnumber=bindparam("now"), created=at, changed=at, cancelled=None),
            [{"which": number, "now": vnumber} for number, vnumber in pairs],
        )


def _insert_versions(
    connection: Connection,
    account: int,
    at: int,
    entries: Sequence[tuple[int, tuple[int, int], int, Wanted]],
) -> None:
    """Insert versions: (vnumber, (subscription, version), change, what is wanted)."""
    nothing = (None,) * 5
    insert_rows(
        connection,
        version,
        (
            (vnumber, number, account, count, asked.endpoint, at, seq, *nothing)
            for vnumber, (number, count), seq, asked in entries
        ),
    )
    insert_rows(connection, wanted, (_row(vnumber, asked) for vnumber, _, _, asked in entries))


def _row(vnumber: int, asked: Wanted) -> tuple[object, ...]:
    properties = json.dumps(asked.properties, separators=(",", ":"))
    bounds = asked.bounds or (None,) * 4
    return (vnumber, asked.geometry, asked.predicate, asked.filter, properties, *bounds)


def _range(connection: Connection, which: str, count: int) -> range:
    first = take_numbers(connection, which, count)
    return range(first, first + count)
