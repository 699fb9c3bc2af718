"""The contract of all spatial partitionings, and what their members share.

A method cuts the plane into cells, from the boxes of the subscriptions that there are at first.
Cells are closed boxes; they may overlap, and they need not cover everything: whatever they leave
over is one more partition, the overflow. A `Partitioning` then tells for any box in which
partitions it lies.

**Why no match is lost.** Let a publication and a subscription share a point, which lies in both of
their boxes. If a cell holds that point, both boxes meet the cell, and both are placed there. If
none does, then neither box lies within a single cell, nor within what the cells cover together:
both are placed in the overflow.

**Why no match is found twice.** The lower left corner of what two boxes share lies in both of
them; so by the same argument both are placed in the partition that owns this corner, and a pair
that is reported there and nowhere else is reported once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from geocast.match.index.base import Boxes, Candidates
from geocast.match.index.hprtree import HPRTree

__all__ = ["NOWHERE", "Cells", "Method", "Partitioning", "centres", "extent"]

NOWHERE: Boxes = np.array([[np.inf, np.inf, -np.inf, -np.inf]])
"""The box that has no point."""

Points = NDArray[np.float64]
"""An array of shape (n, 2)."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Closed boxes, and one box of which they leave no point out, or NOWHERE."""

    boxes: Boxes
    covered: Boxes


class Method(Protocol):
    """How cells are cut; a member is one file and one line in the registry."""

    name: ClassVar[str]
    """Its sign in the names of algorithms, such as QT."""

    title: ClassVar[str]
    """What people call it."""

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return at most `count` cells from boxes, of which there is at least one.

        All that is left to chance comes from `chance`.
        """
        ...


@dataclass(frozen=True)
class Partitioning:
    """Cells 0 to n - 1, and the overflow as partition n."""

    cells: Boxes
    covered: Boxes

    @property
    def count(self) -> int:
        """How many partitions there are, the overflow among them."""
        return len(self.cells) + 1

    @property
    def overflow(self) -> int:
        """The partition of what lies outside all cells."""
        return len(self.cells)

    def places(self, bounds: Boxes) -> Candidates:
        """Return every partition that each of the boxes lies in, ascending; at least one."""
        offsets, items = self._index.query(bounds)
        counts = np.diff(offsets)
        query = np.repeat(np.arange(len(bounds)), counts)
        inside = np.zeros(len(bounds), np.bool_)
        inside[query[_within(bounds[query], self.cells[items])]] = True
        inside |= _within(bounds, self.covered)
        outside = np.flatnonzero(~inside)
        everyone = np.concatenate([query, outside])
        partitions = np.concatenate([items, np.full(len(outside), self.overflow, np.int32)])
        order = np.lexsort((partitions, everyone))
        ends = np.cumsum(counts + ~inside, dtype=np.int64)
        return np.concatenate([[0], ends]), partitions[order].astype(np.int32)

    def home(self, bounds: Boxes) -> NDArray[np.int32]:
        """Return one of the partitions of each box: the smallest."""
        offsets, partitions = self.places(bounds)
        return partitions[offsets[:-1]]

    def owner(self, points: Points) -> NDArray[np.int32]:
        """Return the one partition that each point belongs to: its first cell, or the overflow."""
        offsets, items = self._index.query(np.hstack([points, points]))
        owner = np.full(len(points), self.overflow, np.int32)
        np.minimum.at(owner, np.repeat(np.arange(len(points)), np.diff(offsets)), items)
        return owner

    def owner_of_pair(self, one: Boxes, other: Boxes) -> NDArray[np.int32]:
        """Return the partition that reports each pair of boxes that meet, row by row."""
        return self.owner(np.maximum(one[:, :2], other[:, :2]))

    @cached_property
    def _index(self) -> HPRTree:
        return HPRTree.build(self.cells)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the index over the cells, which is quick to build."""
        return {"cells": self.cells, "covered": self.covered}


def extent(bounds: Boxes) -> Boxes:
    """Return the box around all boxes, as an array of one."""
    return np.concatenate([bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)])[None, :]


def centres(bounds: Boxes) -> Points:
    """Return the centres of boxes."""
    return bounds[:, :2] + (bounds[:, 2:] - bounds[:, :2]) / 2


def _within(inner: Boxes, outer: Boxes) -> NDArray[np.bool_]:
    low, high = inner[:, :2] >= outer[:, :2], inner[:, 2:] <= outer[:, 2:]
    return np.asarray((low & high).all(axis=1))
