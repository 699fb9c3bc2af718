"""The ledger: which snapshot version a batch is matched with, written down before it is matched."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row, delete, select, update

from geocast.errors import StateError
from geocast.model import now
from geocast.repository.database import Database
from geocast.repository.repeat import repeatable
from geocast.repository.statements import insert_absent
from geocast.repository.tables import batch as batches
from geocast.repository.values import Pinned

__all__ = ["Ledger"]


class Ledger:
    """Pins batches to snapshots, so that a batch that is run again gives the same matches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def pin(self, query: str, batch: int, snapshot: int) -> int:
        """Pin a batch to a snapshot unless it is pinned; return what it is pinned to."""
        key = {"query": query, "batch": batch}
        row = {"snapshot": snapshot, "pinned_at": now(), "ranges": "{}", "counts": "{}"}
        with self._database.write() as connection:
            insert_absent(connection, batches, [key | row])
            pinned: int = connection.execute(
                select(batches.c.snapshot).where(*_is(query, batch))
            ).scalar_one()
        return pinned

    @repeatable
    def finish(
        self,
        query: str,
        batch: int,
        ranges: dict[int, tuple[int, int]],
        counts: dict[str, int],
    ) -> None:
        """Record that a batch is done: the offsets [start, stop) it had of each partition, counts.

        What was recorded first stays. Raises StateError if the batch was never pinned.
        """
        values = {"finished_at": now(), "ranges": json.dumps(ranges), "counts": json.dumps(counts)}
        change = update(batches).where(*_is(query, batch), batches.c.finished_at.is_(None))
        with self._database.write() as connection:
            known = connection.execute(select(batches.c.batch).where(*_is(query, batch))).first()
            if known is None:
                raise StateError(f"batch {batch} of query {query!r} is finished but was not pinned")
            connection.execute(change.values(values))

    @repeatable
    def entries(
        self, query: str, after: int = -1, limit: int = 100, *, newest: bool = False
    ) -> list[Pinned]:
        """Return batches above a number in ascending order; with `newest`, the last ones first."""
        order = batches.c.batch.desc() if newest else batches.c.batch
        found = select(batches).where(batches.c.query == query, batches.c.batch > after)
        with self._database.read() as connection:
            rows = connection.execute(found.order_by(order).limit(limit)).all()
        return [_pinned(row) for row in rows]

    @repeatable
    def needed(self, query: str) -> set[int]:
        """Return the snapshots that a batch may still need.

        Those of all batches that are not finished, and of the last two that are: a restart may
        run them again.
        """
        of_query = select(batches.c.snapshot).where(batches.c.query == query)
        done = of_query.where(batches.c.finished_at.isnot(None))
        with self._database.read() as connection:
            unfinished = connection.execute(of_query.where(batches.c.finished_at.is_(None)))
            needed = set(unfinished.scalars())
            last = connection.execute(done.order_by(batches.c.batch.desc()).limit(2))
            return needed | set(last.scalars())

    @repeatable
    def expire(self, query: str, keep_last: int) -> int:
        """Forget finished batches but the last ones; return how many."""
        done = (batches.c.query == query, batches.c.finished_at.isnot(None))
        kept = (
            select(batches.c.batch).where(*done).order_by(batches.c.batch.desc()).limit(keep_last)
        )
        with self._database.write() as connection:
            removal = delete(batches).where(*done, batches.c.batch.not_in(kept))
            return connection.execute(removal).rowcount


def _is(query: str, batch: int) -> tuple[Any, Any]:
    return batches.c.query == query, batches.c.batch == batch


def _pinned(row: Row[*tuple[Any, ...]]) -> Pinned:
    ranges = {
        int(partition): (start, stop) for partition, (start, stop) in json.loads(row.ranges).items()
    }
    counts = json.loads(row.counts)
    return Pinned(row.batch, row.snapshot, row.pinned_at, row.finished_at, ranges, counts)
