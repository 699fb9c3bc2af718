"""Cells that follow the load: where much was to do there are small ones, where little was, large.

The box around all cells is cut in two, and the pieces again, so that every piece gets as many cells
as its share of the load is worth. What was hot is split thereby, and what was idle is joined. The
new cells tile the box and leave no point of it out, so every argument of
`geocast.match.partition.base` holds for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Partitioning, Points, extent

__all__ = ["Load", "adapted", "add_load", "imbalance"]

_LEAST: Final = 0.02
"""The load of an idle cell, in means: work may come back to where it was."""

_UNEVEN: Final = 1.7
"""The share of the slowest partition that is borne, in means."""

_WORTH: Final = 0.8
"""New cells are worth their making if the slowest takes at most so many times what it took."""


@dataclass(frozen=True)
class Load:
    """How long a partition took, and where some of its publications were."""

    seconds: float
    where: Points

    def plus(self, other: Load) -> Load:
        """Return both together."""
        return Load(self.seconds + other.seconds, np.concatenate([self.where, other.where]))


def add_load(loads: dict[int, Load], partition: int, load: Load) -> None:
    """Add to what a partition had to do."""
    before = loads.get(partition)
    loads[partition] = load if before is None else before.plus(load)


def imbalance(loads: Mapping[int, Load], partitions: int) -> float:
    """Return the share of the slowest partition, in means of all `partitions`, the idle too."""
    seconds = [load.seconds for load in loads.values()]
    return max(seconds) / (sum(seconds) / partitions) if seconds and sum(seconds) else 1.0


def adapted(partitioning: Partitioning, loads: Mapping[int, Load], most: int) -> Partitioning:
    """Return at most `most` cells that have about the same load each, or the old ones.

    The old ones stay where their loads are even enough, and where others would be little better,
    because the publications of a hot cell are all in one place. The load of a cell is taken to lie
    where its publications were, or at its border where they were outside. The overflow stays what
    it is.
    """
    cells = len(partitioning.cells)
    own = {number: load for number, load in loads.items() if number < cells}
    if imbalance(own, cells) <= _UNEVEN:
        return partitioning
    places, weights = _weighted(partitioning.cells, own)
    whole = extent(partitioning.cells)
    tiles = list(_tiles(whole[0], places, weights, most))
    slowest = max(load.seconds for load in own.values())
    if max(weight for _, weight in tiles) > _WORTH * slowest:
        return partitioning
    return Partitioning(np.array([box for box, _ in tiles]), whole)


def _weighted(cells: Boxes, loads: Mapping[int, Load]) -> tuple[Points, NDArray[np.float64]]:
    """Return where the loads lie, and how much each place counts."""
    least = _LEAST * sum(load.seconds for load in loads.values()) / len(loads)
    nobody = Load(0.0, np.empty((0, 2)))
    places, weights = [], []
    for number, cell in enumerate(cells):
        load = loads.get(number, nobody)
        where = load.where if len(load.where) else (cell[None, :2] + cell[None, 2:]) / 2
        places.append(np.clip(where, cell[:2], cell[2:]))
        weights.append(np.full(len(where), max(load.seconds, least) / len(where)))
    return np.concatenate(places), np.concatenate(weights)


def _tiles(
    box: Boxes, places: Points, weights: NDArray[np.float64], count: int
) -> Iterator[tuple[Boxes, float]]:
    """Cut a box into `count` tiles of about the same weight, or fewer where places are the same."""
    cut = _cut(box, places, weights, (count // 2) / count) if count > 1 else None
    if cut is None:
        yield box, float(weights.sum())
        return
    axis, value = cut
    low = places[:, axis] < value
    share = float(weights[low].sum() / weights.sum())
    fewer = min(max(round(count * share), 1), count - 1)
    yield from _tiles(_with(box, axis + 2, value), places[low], weights[low], fewer)
    yield from _tiles(_with(box, axis, value), places[~low], weights[~low], count - fewer)


def _cut(
    box: Boxes, places: Points, weights: NDArray[np.float64], share: float
) -> tuple[int, float] | None:
    """Return across which axis and where about that share of the weight lies below.

    The longer axis is preferred. The cut goes between places, not through them.
    """
    for axis in np.argsort(box[:2] - box[2:]).tolist():
        order = np.argsort(places[:, axis], kind="stable")
        values, below = places[order, axis], np.cumsum(weights[order])
        ends = np.flatnonzero(values[1:] > values[:-1])
        if len(ends):
            best = ends[np.argmin(np.abs(below[ends] - share * below[-1]))]
            middle = float(values[best] + (values[best + 1] - values[best]) / 2)
            if values[best] < middle <= values[best + 1]:
                return axis, middle
    return None


def _with(box: Boxes, side: int, value: float) -> Boxes:
    changed = box.copy()
    changed[side] = value
    return changed
