"""Subscriptions divided among partitions, each a matcher of its own in a directory of files.

A subscription lies whole in each of its partitions, with all of its filters; its place is the box
around all of its geometries. Those that match where their geometries are not (`disjoint`, NOT, no
spatial condition at all) have no place: they are kept apart, and every publication asks them once.
Subscriptions are numbered by the order of their ids, and partitions tell matches by these numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.match.index.base import Boxes, Candidates
from geocast.match.matcher import Matcher, Pairs
from geocast.match.outline import Outlines
from geocast.match.partition import Partitioning
from geocast.match.store import load_arrays, save_arrays
from geocast.match.subscriptions import Subscriptions

__all__ = ["EVERYWHERE", "Placing", "Share", "divide"]

EVERYWHERE: Final = "everywhere"
"""The name of the share of those that have no place."""

Placing = Callable[[Boxes, pa.StringArray], Candidates]
"""Gives the partitions of subscriptions by their boxes and ids, as offsets and partitions."""

_PLACES: Final = "places"
_NOBODY: Final = pa.table({"id": pa.array([], pa.string()), "filter": pa.nulls(0)})


@dataclass(frozen=True)
class Share:
    """What one partition holds: a matcher, the numbers of its subscriptions, and their boxes."""

    matcher: Matcher
    numbers: NDArray[np.int32]
    boxes: Boxes

    @classmethod
    def open(cls, directory: Path, name: str) -> Share:
        """Map a share into memory; one that was not saved is empty."""
        path = directory / name
        if not path.is_dir():
            return cls(Matcher(_NOBODY, index="list"), np.empty(0, np.int32), np.empty((0, 4)))
        arrays, _ = load_arrays(path / _PLACES)
        return cls(Matcher.open(path), arrays["numbers"], arrays["boxes"])

    def pairs(self, batch: pa.RecordBatch, among: Candidates | None = None) -> Pairs:
        """Match a batch; the subscriptions in the answer are numbered from 0 within this share."""
        return self.matcher.pairs(batch, among)

    def own_candidates(
        self, outlines: Outlines, partitioning: Partitioning, partition: int
    ) -> Candidates:
        """Return what publications may meet here, without what another partition reports.

        A geometry of which several subscriptions make use, in different places, stays.
        """
        offsets, items = self.matcher.candidates(outlines.boxes, outlines.dim)
        query = np.repeat(np.arange(len(outlines.dim)), np.diff(offsets))
        corner, mixed = self._corners
        sure = ~mixed[items]
        owner = partitioning.owner_of_pair(outlines.boxes[query[sure]], corner[items[sure]])
        kept = np.ones(len(items), np.bool_)
        kept[sure] = owner == partition
        kept &= outlines.known[query]
        counts = np.bincount(query[kept], minlength=len(outlines.dim))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), items[kept]

    @cached_property
    def _corners(self) -> tuple[Boxes, NDArray[np.bool_]]:
        """The boxes of geometries, and which of them stand for a larger place."""
        table = self.matcher.geometry_table()
        differs = (table.boxes[table.on] != self.boxes[table.subscription]).any(axis=1)
        mixed = np.zeros(len(table.dim), np.bool_)
        mixed[table.on[differs]] = True
        return table.boxes, mixed


def divide(
    read: Subscriptions, placing: Placing, index: str, directory: Path
) -> dict[str, Matcher]:
    """Save a share for every partition that holds something; returns their matchers by name.

    A share is named by the number of its partition, or EVERYWHERE. Shares have the index of that
    name; EVERYWHERE has the default one.
    """
    boxes, bounded = read.boxes(), read.bounded
    placed = np.flatnonzero(bounded & np.isfinite(boxes).all(axis=1))
    offsets, partitions = placing(boxes[placed], read.ids.take(pa.array(placed)))
    owner = np.repeat(placed, np.diff(offsets))
    order = np.argsort(partitions, kind="stable")
    held, starts = np.unique(partitions[order], return_index=True)
    members = np.split(owner[order], starts[1:]) if len(held) else []
    directory.mkdir(parents=True, exist_ok=True)
    shares = {}
    for partition, own in zip(map(str, held), members, strict=True):
        shares[partition] = _save(read, own, boxes, index, directory / partition)
    if not bounded.all():
        apart = np.flatnonzero(~bounded)
        shares[EVERYWHERE] = _save(read, apart, boxes, "cells", directory / EVERYWHERE)
    return shares


def _save(
    read: Subscriptions, own: NDArray[np.int64], boxes: Boxes, index: str, path: Path
) -> Matcher:
    matcher = Matcher.of(read.select(own), index)
    matcher.save(path)
    save_arrays(path / _PLACES, {"numbers": own.astype(np.int32), "boxes": boxes[own]}, {})
    return matcher
