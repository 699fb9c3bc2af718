"""Forgetting what subscriptions asked for once, when nothing can refer to it any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, delete, exists, func, select

from geocast.repository.database import Database
from geocast.repository.statements import chunks
from geocast.repository.tables import batch, delivered, event, subscription, version, wanted

__all__ = ["forget_removed"]

_PIECE: Final = 5_000
_EVENTS: Final = 50_000


def forget_removed(database: Database, before: int) -> int:
    """Remove versions that were replaced or cancelled before a time; return how many.

    The caller says that no match of a publication from before that time is still to be
    delivered. A version was in force for no publication after its removal; so what may still
    need it is a batch that was pinned before, which is waited for, and an event in the mailboxes
    that names it, which keeps it. A cancelled subscription goes with its last version.
    """
    with database.read() as connection:
        unfinished = select(func.min(batch.c.pinned_at)).where(batch.c.finished_at.is_(None))
        limit = min(before, connection.execute(unfinished).scalar_one() or before)
        old = select(version.c.vnumber).where(version.c.removed_at < limit)
        candidates = np.fromiter(connection.execute(old).scalars(), np.int64)
    if not len(candidates):
        return 0
    unneeded = np.setdiff1d(candidates, _named(database, candidates))
    for part in chunks(unneeded.tolist(), _PIECE):
        with database.write(durable=False) as connection:
            _remove(connection, part)
    return len(unneeded)


def _named(database: Database, candidates: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return those of the versions that an event names."""
    found, last = np.empty(0, np.int64), 0
    while True:
        query = select(event.c.number, event.c.versions).where(event.c.number > last)
        with database.read() as connection:
            rows = connection.execute(query.order_by(event.c.number).limit(_EVENTS)).all()
        if not rows:
            return found
        last = rows[-1].number
        named = np.frombuffer(b"".join(row.versions for row in rows), np.int64)
        found = np.union1d(found, np.intersect1d(named, candidates))


def _remove(connection: Connection, vnumbers: Sequence[int]) -> None:
    theirs = select(version.c.subscription).where(version.c.vnumber.in_(vnumbers))
    numbers = set(connection.execute(theirs).scalars())
    connection.execute(delete(wanted).where(wanted.c.vnumber.in_(vnumbers)))
    connection.execute(delete(version).where(version.c.vnumber.in_(vnumbers)))
    left = exists().where(version.c.subscription == subscription.c.number)
    ended = select(subscription.c.number).where(
        subscription.c.number.in_(numbers), subscription.c.cancelled.isnot(None), ~left
    )
    gone = connection.execute(ended).scalars().all()
    connection.execute(delete(delivered).where(delivered.c.subscription.in_(gone)))
    connection.execute(delete(subscription).where(subscription.c.number.in_(gone)))
