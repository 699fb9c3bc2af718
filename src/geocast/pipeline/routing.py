"""Upper pipelines: to which partitions a publication goes, and what it takes along.

`ByPlace` sends it to every partition that its box meets. `ByGazetteer` looks it up in the boxes of
all subscriptions and sends it, with what it may match there, where there is something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.files import Chunk
from geocast.match.gazetteer import Found, Gazetteer
from geocast.match.index.base import Candidates
from geocast.match.outline import Outlines, outlines
from geocast.match.partition import Partitioning
from geocast.match.publications import read_publications
from geocast.match.search import picked
from geocast.pipeline.parcel import Parcel
from geocast.pipeline.shipment import Shipment

__all__ = ["ByGazetteer", "ByPlace", "Router", "parcels"]


@dataclass(frozen=True, eq=False)
class Routes:
    """Publication row[k] goes to partition target[k], sorted by target and row.

    Every row has at least one target. `among` are the geometries that it may match there.
    """

    row: NDArray[np.int64]
    target: NDArray[np.int32]
    among: Candidates | None = None


class Router(Protocol):
    """The part of an algorithm that differs from the others; pickled, and run in workers."""

    def routes(self, outlines: Outlines) -> Routes:
        """Return where publications with these outlines go."""
        ...


@dataclass(frozen=True)
class ByPlace:
    """To every partition that the publication's box is not disjoint from."""

    partitioning: Partitioning

    def routes(self, outlines: Outlines) -> Routes:
        """Return where publications go; those that cannot be used go to one partition."""
        known = np.flatnonzero(outlines.known)
        unknown = np.flatnonzero(~outlines.known)
        offsets, partitions = self.partitioning.places(outlines.boxes[known])
        row = np.concatenate([np.repeat(known, np.diff(offsets)), unknown])
        target = np.concatenate([partitions, np.full(len(unknown), self.partitioning.overflow)])
        order = np.lexsort((row, target))
        return Routes(row[order], target[order].astype(np.int32))


@dataclass(frozen=True)
class ByGazetteer:
    """To the partitions that hold a candidate; without any, to one that accounts for it."""

    shipment: Shipment
    partitions: int

    def routes(self, outlines: Outlines) -> Routes:
        """Return where publications go, and the candidates there."""
        found = _open_gazetteer(self.shipment.path()).find(outlines)
        row, target, count = _grouped(found)
        without = np.setdiff1d(np.arange(len(outlines.known)), row)
        row = np.concatenate([row, without])
        target = np.concatenate([target, without % self.partitions]).astype(np.int32)
        count = np.concatenate([count, np.zeros(len(without), np.int64)])
        order = np.lexsort((row, target))
        # Rows without candidates take nothing along, so the candidates keep their order.
        offsets = np.concatenate([[0], np.cumsum(count[order])]).astype(np.int64)
        return Routes(row[order], target[order], (offsets, found.geometry))


def _grouped(found: Found) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return row, partition and number of candidates of each run of equal rows and partitions."""
    fresh = np.diff(found.row, prepend=-1) != 0
    fresh |= np.diff(found.partition, prepend=-1) != 0
    first = np.flatnonzero(fresh)
    return found.row[first], found.partition[first], np.diff(first, append=len(found.row))


@lru_cache(maxsize=2)
def _open_gazetteer(folder: Path) -> Gazetteer:
    return Gazetteer.open(folder / "gazetteer")


def parcels(chunk: Chunk, router: Router, tasks: int) -> Iterator[tuple[int, Parcel]]:
    """Yield the publications of a chunk, packed for tasks: partition p is for task p % tasks."""
    if chunk.rejects:
        yield 0, _refusal(chunk)
    if not chunk.batch.num_rows:
        return
    routes = router.routes(outlines(read_publications(chunk.batch)))
    home = np.zeros(len(routes.row), np.bool_)
    home[np.unique(routes.row, return_index=True)[1]] = True
    worked_on = routes.target % tasks
    for task in np.unique(worked_on).tolist():
        own = np.flatnonzero(worked_on == task)
        rows, at = np.unique(routes.row[own], return_inverse=True)
        parcel = Parcel(
            _select(chunk.batch, rows),
            chunk.rows[rows],
            routes.target[own],
            at,
            home[own],
            None if routes.among is None else picked(routes.among, own),
        )
        yield task, parcel


def _refusal(chunk: Chunk) -> Parcel:
    """Return a parcel that has only the records that are no publications."""
    none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
    nobody = _select(chunk.batch, none)
    return Parcel(nobody, none, none.astype(np.int32), none, no, refused=chunk.rejects)


def _select(batch: pa.RecordBatch, rows: NDArray[np.int64]) -> pa.RecordBatch:
    return batch.take(pa.array(rows))
