"""Subscriptions divided among partitions, each a matcher of its own in a directory of files.

A subscription lies whole in each of its partitions, with all of its filters; its place is the box
around all of its geometries. Those that match where their geometries are not (`disjoint`, NOT, no
spatial condition at all) have no place: they are kept apart, and every publication asks them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.match.gazetteer import Gazetteer
from geocast.match.index.base import Boxes, Candidates
from geocast.match.matcher import Matcher, Pairs
from geocast.match.outline import Outlines
from geocast.match.partition import Partitioning
from geocast.match.partition.division import Division
from geocast.match.store import load_arrays, save_arrays
from geocast.match.subscriptions import Subscriptions

__all__ = ["EVERYWHERE", "Divided", "Share", "divide", "no_share"]

EVERYWHERE: Final = "everywhere"
"""The name of the share of those that have no place."""

_DIVISION: Final = "division"
_GAZETTEER: Final = "gazetteer"
_PLACES: Final = "places"
_NOBODY: Final = pa.table({"id": pa.array([], pa.string()), "filter": pa.nulls(0)})


@dataclass(frozen=True)
class Share:
    """What one partition holds: a matcher, the numbers of its subscriptions, and their boxes."""

    matcher: Matcher
    numbers: NDArray[Any]
    boxes: Boxes

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


@cache
def no_share() -> Share:
    """Return a share without subscriptions; it still tells which publications are of no use."""
    return Share(Matcher(_NOBODY, index="list"), np.empty(0, np.int64), np.empty((0, 4)))


@dataclass(frozen=True)
class Divided:
    """What `divide` has written: shares, and how to find them."""

    directory: Path
    division: Division
    gazetteer: Gazetteer | None
    properties: frozenset[str]
    held: frozenset[str]

    @classmethod
    def open(cls, directory: Path) -> Divided:
        """Map what is needed to find shares into memory."""
        arrays, facts = load_arrays(directory / _DIVISION)
        division = Division.of(arrays, facts)
        place = directory / _GAZETTEER
        gazetteer = Gazetteer.open(place) if division.way != "spread" else None
        properties, held = frozenset(facts["properties"]), frozenset(facts["held"])
        return cls(directory, division, gazetteer, properties, held)

    def share(self, name: str) -> Share:
        """Map a share into memory, by the number of its partition or as EVERYWHERE.

        One that holds nothing was not written. Raises InputError where one is missing that was.
        """
        if name not in self.held:
            return no_share()
        path = self.directory / name
        arrays, _ = load_arrays(path / _PLACES)
        return Share(Matcher.open(path), arrays["numbers"], arrays["boxes"])


def divide(
    read: Subscriptions, numbers: NDArray[Any], division: Division, directory: Path
) -> frozenset[str]:
    """Write a share for every partition that holds something, and how to find it.

    Matches are told by `numbers`, one for each subscription. Returns the attributes that filters
    use.
    """
    boxes, bounded = read.boxes(), read.bounded
    placed = np.flatnonzero(bounded & np.isfinite(boxes).all(axis=1))
    offsets, partitions = division.places(boxes[placed], read.ids.take(pa.array(placed)))
    owner = np.repeat(placed, np.diff(offsets))
    order = np.argsort(partitions, kind="stable")
    held, starts = np.unique(partitions[order], return_index=True)
    members = np.split(owner[order], starts[1:]) if len(held) else []
    index = division.index if division.way == "spread" else "list"
    shares: dict[int, Matcher] = {}
    for partition, own in zip(held.tolist(), members, strict=True):
        shares[partition] = _save(read, own, numbers, boxes, index, directory / str(partition))
    if division.way != "spread":
        Gazetteer.build(shares, division.index).save(directory / _GAZETTEER)
    names, used = [str(partition) for partition in shares], list(shares.values())
    if not bounded.all():
        apart = np.flatnonzero(~bounded)
        used.append(_save(read, apart, numbers, boxes, "cells", directory / EVERYWHERE))
        names.append(EVERYWHERE)
    properties = frozenset[str]().union(*(share.properties for share in used))
    facts = division.facts() | {"properties": sorted(properties), "held": names}
    save_arrays(directory / _DIVISION, division.arrays(), facts)
    return properties


def _save(
    read: Subscriptions,
    own: NDArray[np.int64],
    numbers: NDArray[Any],
    boxes: Boxes,
    index: str,
    path: Path,
) -> Matcher:
    matcher = Matcher.of(read.select(own), index)
    matcher.save(path)
    save_arrays(path / _PLACES, {"numbers": numbers[own], "boxes": boxes[own]}, {})
    return matcher
