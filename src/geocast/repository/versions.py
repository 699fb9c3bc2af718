"""How subscriptions change: each change is one row of a sequence that snapshots follow.

A replacement adds one version and removes another in a single row, so that no snapshot can have
both or neither.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import repeat

from sqlalchemy import Connection, bindparam, select, update

from geocast.errors import ConflictError
from geocast.repository.checks import check_account
from geocast.repository.statements import Numbers, chunks, insert_rows, take_numbers
from geocast.repository.tables import change, subscription, version, wanted
from geocast.repository.values import Wanted

__all__ = ["add_all", "cancel", "cancel_all", "replace"]


def add_all(
    connection: Connection, account: int, entries: Sequence[tuple[str, Wanted]], at: int
) -> list[tuple[int, int, int]]:
    """Add subscriptions; return number, version and version number of each.

    An id that was cancelled stands again, with versions that go on counting. Raises
    ConflictError if the account has one of the ids standing, InputError if it is not there.
    """
    check_account(connection, account)
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
    """Add a version in the place of the newest; False if no such subscription stands."""
    query = (
        select(subscription.c.number, version.c.vnumber, version.c.version)
        .join(version, version.c.vnumber == subscription.c.vnumber)
        .where(subscription.c.account == account, subscription.c.id == identifier)
        .where(subscription.c.cancelled.is_(None))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return False
    number, old, count = row
    vnumber = take_numbers(connection, Numbers.VERSION, 1)
    seq = take_numbers(connection, Numbers.CHANGE, 1)
    insert_rows(connection, change, [(seq, vnumber, old)])
    _insert_versions(connection, account, at, [(vnumber, (number, count + 1), seq, asked)])
    connection.execute(update(version).where(version.c.vnumber == old).values(removed=seq))
    connection.execute(
        update(subscription)
        .where(subscription.c.number == number)
        .values(vnumber=vnumber, changed=at)
    )
    return True


def cancel(connection: Connection, account: int, identifier: str, at: int) -> bool:
    """Cancel a subscription; False if no such subscription stands."""
    query = select(subscription.c.number, subscription.c.vnumber).where(
        subscription.c.account == account,
        subscription.c.id == identifier,
        subscription.c.cancelled.is_(None),
    )
    found = [tuple(row) for row in connection.execute(query)]
    _cancel(connection, found, at)
    return bool(found)


def cancel_all(connection: Connection, account: int, at: int) -> None:
    """Cancel all subscriptions of an account."""
    query = (
        select(subscription.c.number, subscription.c.vnumber)
        .where(subscription.c.account == account, subscription.c.cancelled.is_(None))
        .order_by(subscription.c.number)
    )
    _cancel(connection, [tuple(row) for row in connection.execute(query)], at)


def _cancel(connection: Connection, found: Sequence[tuple[int, ...]], at: int) -> None:
    if not found:
        return
    seqs = _range(connection, Numbers.CHANGE, len(found))
    pairs = list(zip(seqs, (vnumber for _, vnumber in found), strict=True))
    insert_rows(connection, change, ((seq, None, vnumber) for seq, vnumber in pairs))
    connection.execute(
        update(version)
        .where(version.c.vnumber == bindparam("old"))
        .values(removed=bindparam("by")),
        [{"old": vnumber, "by": seq} for seq, vnumber in pairs],
    )
    connection.execute(
        update(subscription)
        .where(subscription.c.number == bindparam("which"))
        .values(cancelled=at, changed=at),
        [{"which": number} for number, _ in found],
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
