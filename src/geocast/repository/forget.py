"""Forgetting what subscriptions asked for once, when nothing can refer to it any more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, delete, exists, func, select

from geocast.repository.database import Database
from geocast.repository.repeat import repeatable
from geocast.repository.statements import Numbers, chunks, lock_numbers
from geocast.repository.tables import (
    batch,
    delivered,
    event,
    pause,
    subscription,
    version,
    wanted,
)

__all__ = ["forget_removed", "pinned_snapshot"]

_PIECE: Final = 1_000
_PAUSE_SECONDS: Final = 0.02
_MOST: Final = 100_000
"""How many versions are looked at in a call; the next one goes on."""

_SPAN: Final = 1_000_000
"""How many mailbox rows the events that are read together had at first."""


def pinned_snapshot(database: Database) -> int | None:
    """Return the oldest snapshot that an unfinished batch is pinned to."""
    query = select(func.min(batch.c.snapshot)).where(batch.c.finished_at.is_(None))
    with database.read() as connection:
        oldest: int | None = connection.execute(query).scalar_one()
    return oldest


def forget_removed(database: Database, before: int, pinned: int | None) -> int:
    """Remove versions that were replaced or cancelled before a time; return how many.

    `pinned` is what `pinned_snapshot` said; and after that was asked, no match of a publication
    from before the time `before` was still to be delivered. A version was in force for no
    publication after its removal; so what may still need it is a batch whose snapshot has it,
    which is waited for, and an event in the mailboxes that names it, which keeps it. The newest
    version of a paused subscription is what it will ask for again.
    """
    paused = select(subscription.c.vnumber).join(
        pause, pause.c.subscription == subscription.c.number
    )
    removed = version.c.removed_at < before
    old = select(version.c.vnumber).where(removed, version.c.vnumber.not_in(paused))
    if pinned is not None:
        old = old.where(version.c.removed_snapshot <= pinned)
    with database.read() as connection:
        rows = connection.execute(
            old.order_by(version.c.removed_at, version.c.vnumber).limit(_MOST)
        )
        candidates = np.fromiter(rows.scalars(), np.int64)
    if not len(candidates):
        return 0
    unneeded = np.setdiff1d(candidates, _named(database, candidates))
    count = 0
    for part in chunks(unneeded.tolist(), _PIECE):
        count += _remove(database, part)
        # Others wait for the database without queueing: leave them a gap.
        time.sleep(_PAUSE_SECONDS)
    return count


def _named(database: Database, candidates: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return those of the versions that an event names."""
    found, first = np.empty(0, np.int64), 0
    following = select(func.min(event.c.number))
    while True:
        with database.read() as connection:
            start = connection.execute(following.where(event.c.number >= first)).scalar_one()
            if start is None:
                return found
            first = start + _SPAN
            span = select(event.c.versions).where(event.c.number.between(start, first - 1))
            named = np.frombuffer(b"".join(connection.execute(span).scalars()), np.int64)
        found = np.union1d(found, np.intersect1d(named, candidates))


@repeatable
def _remove(database: Database, vnumbers: Sequence[int]) -> int:
    with database.write(durable=False) as connection:
        lock_numbers(connection, Numbers.CHANGE)
        return _remove_versions(connection, vnumbers)


def _remove_versions(connection: Connection, vnumbers: Sequence[int]) -> int:
    """Remove versions; the newest of a subscription only with the last of the others."""
    others = exists().where(
        version.c.subscription == subscription.c.number, version.c.vnumber.not_in(vnumbers)
    )
    newest = select(subscription.c.vnumber).where(subscription.c.vnumber.in_(vnumbers), others)
    gone = sorted(set(vnumbers).difference(connection.execute(newest).scalars()))
    ended = select(subscription.c.number).where(subscription.c.vnumber.in_(gone))
    numbers = connection.execute(ended).scalars().all()
    connection.execute(delete(wanted).where(wanted.c.vnumber.in_(gone)))
    connection.execute(delete(version).where(version.c.vnumber.in_(gone)))
    connection.execute(delete(delivered).where(delivered.c.subscription.in_(numbers)))
    connection.execute(delete(subscription).where(subscription.c.number.in_(numbers)))
    return len(gone)
