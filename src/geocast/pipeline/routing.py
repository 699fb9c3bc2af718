"""The upper pipeline: to which partitions a publication goes, and what it takes along.

Subscriptions may be held in several places that are divided on their own (`Holding`): one in a job
on files, in the live service one for each large part of the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.files import Chunk
from geocast.match.divided import Divided
from geocast.match.index.base import Candidates
from geocast.match.outline import Outlines, outlines
from geocast.match.publications import read_publications
from geocast.match.search import picked
from geocast.pipeline.parcel import Parcel
from geocast.pipeline.shipment import Shipment

__all__ = ["Holding", "open_holding", "parcels"]

_HOLDINGS_OPEN = 16


@dataclass(frozen=True)
class Holding:
    """Divided subscriptions, wherever workers find them."""

    shipment: Shipment

    def open(self) -> Divided:
        """Return them, in a worker; opened once a worker process."""
        return open_holding(self.shipment.path())


@lru_cache(maxsize=_HOLDINGS_OPEN)
def open_holding(folder: Path) -> Divided:
    """Open what lies in a folder, once a process."""
    return Divided.open(folder)


@dataclass(frozen=True, eq=False)
class Routes:
    """Publication row[k] goes to partition[k] of a holding, and may match among[k] there."""

    row: NDArray[np.int64]
    partition: NDArray[np.int64]
    among: Candidates

    @classmethod
    def into(cls, divided: Divided, found: Outlines) -> Routes:
        """Return where publications with these outlines go; some may go nowhere."""
        if divided.gazetteer is not None:
            return cls._looked_up(divided, found)
        partitioning = divided.division.partitioning
        assert partitioning is not None, "what is not looked up is divided by place"
        known = np.flatnonzero(found.known)
        offsets, partitions = partitioning.places(found.boxes[known])
        row = np.repeat(known, np.diff(offsets))
        nothing = np.zeros(len(row) + 1, np.int64), np.empty(0, np.int32)
        return cls(row, partitions.astype(np.int64), nothing)

    @classmethod
    def _looked_up(cls, divided: Divided, outlines: Outlines) -> Routes:
        assert divided.gazetteer is not None
        found = divided.gazetteer.find(outlines)
        fresh = np.diff(found.row, prepend=-1) != 0
        fresh |= np.diff(found.partition, prepend=-1) != 0
        first = np.flatnonzero(fresh)
        offsets = np.append(first, len(found.row)).astype(np.int64)
        partition = found.partition[first].astype(np.int64)
        return cls(found.row[first], partition, (offsets, found.geometry))


def parcels(chunk: Chunk, holdings: Sequence[Holding], tasks: int) -> Iterator[tuple[int, Parcel]]:
    """Yield the publications of a chunk, packed for tasks.

    Partition p of holding h of n is the target p * (n + 1) + h; task (p + h) % tasks works on it.
    What goes to no partition goes to a target with h = n, to be accounted for.
    """
    if chunk.rejects:
        yield 0, _refusal(chunk)
    if not chunk.batch.num_rows:
        return
    routes = _targets(outlines(read_publications(chunk.batch)), holdings, tasks)
    home = np.zeros(len(routes.row), np.bool_)
    home[np.unique(routes.row, return_index=True)[1]] = True
    partition, holding = np.divmod(routes.partition, len(holdings) + 1)
    worked_on = (partition + holding) % tasks
    for task in np.unique(worked_on).tolist():
        own = np.flatnonzero(worked_on == task)
        rows, at = np.unique(routes.row[own], return_inverse=True)
        batch = chunk.batch.take(pa.array(rows))
        among = picked(routes.among, own)
        target = routes.partition[own]
        yield task, Parcel(batch, batch.nbytes, chunk.rows[rows], target, at, home[own], among)


def _targets(found: Outlines, holdings: Sequence[Holding], tasks: int) -> Routes:
    """Return the routes into all holdings, by targets in place of partitions."""
    own = [Routes.into(holding.open(), found) for holding in holdings]
    stride = len(holdings) + 1
    reached = np.zeros(len(found.known), np.bool_)
    for routes in own:
        reached[routes.row] = True
    rest = np.flatnonzero(~reached)
    nothing = np.zeros(len(rest) + 1, np.int64), np.empty(0, np.int32)
    own.append(Routes(rest, rest % tasks, nothing))
    counts = np.concatenate([np.diff(routes.among[0]) for routes in own])
    return Routes(
        np.concatenate([routes.row for routes in own]),
        np.concatenate([routes.partition * stride + h for h, routes in enumerate(own)]),
        (
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([routes.among[1] for routes in own]),
        ),
    )


def _refusal(chunk: Chunk) -> Parcel:
    """Return a parcel that has only the records that are no publications."""
    none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
    nobody = chunk.batch.take(pa.array(none))
    nothing = np.zeros(1, np.int64), np.empty(0, np.int32)
    return Parcel(nobody, 0, none, none, none, no, nothing, chunk.rejects)
