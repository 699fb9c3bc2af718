"""Cells that follow the load: the hot ones are split, idle neighbours are joined.

Splitting a cell in two and joining two cells to the box around both leave no point out that a cell
held before, so every argument of `geocast.match.partition.base` holds for the new cells as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Partitioning, Points

__all__ = ["Load", "adapted", "add_load", "imbalance"]

Piece = tuple[Boxes, float]
"""A cell and its load in seconds."""

_HOT: Final = 1.5
_IDLE: Final = 0.5
_MOST_GROWTH: Final = 1.2


@dataclass(frozen=True)
class Load:
    """How long a partition took, and where some of its publications were."""

    seconds: float
    where: Points

    def plus(self, other: Load) -> Load:
        """Return both together."""
        return Load(self.seconds + other.seconds, np.concatenate([self.where, other.where]))

    def faded(self, share: float, most: int) -> Load:
        """Return a part of it, for what was long ago counts less; `most` places are kept."""
        return Load(self.seconds * share, self.where[-most:])


def add_load(loads: dict[int, Load], partition: int, load: Load) -> None:
    """Add to what a partition had to do."""
    before = loads.get(partition)
    loads[partition] = load if before is None else before.plus(load)


def imbalance(loads: Mapping[int, Load]) -> float:
    """Return the share of the slowest partition, in means of all that had something to do."""
    seconds = [load.seconds for load in loads.values()]
    return max(seconds) / (sum(seconds) / len(seconds)) if seconds and sum(seconds) else 1.0


def adapted(partitioning: Partitioning, loads: Mapping[int, Load], most: int) -> Partitioning:
    """Return at most `most` cells, or few more, whose loads are more even.

    Cells above one and a half means are cut where half of their publications were. Pairs that
    together stay below half a mean are joined where little is added to them, as often as cells were
    cut, and where more is added, too, if there are too many cells. The overflow stays what it is.
    """
    own = {number: load for number, load in loads.items() if number < len(partitioning.cells)}
    if not own:
        return partitioning
    mean = sum(load.seconds for load in own.values()) / len(own)
    pieces: list[Piece] = []
    for number, cell in enumerate(partitioning.cells):
        pieces += _cut(cell, own.get(number, Load(0.0, np.empty((0, 2)))), _HOT * mean)
    boxes = np.array([box for box, _ in pieces]).reshape(-1, 4)
    seconds = np.array([load for _, load in pieces])
    cuts = len(pieces) - len(partitioning.cells)
    boxes, seconds = _joined(boxes, seconds, cuts, _IDLE * mean, _MOST_GROWTH)
    boxes, _ = _joined(boxes, seconds, len(boxes) - most, mean, np.inf)
    return Partitioning(boxes, partitioning.covered)


def _cut(cell: Boxes, load: Load, most: float) -> list[Piece]:
    """Cut a cell until no piece has more than `most`, or publications cannot be told apart."""
    if load.seconds <= most or len(load.where) < 2:
        return [(cell, load.seconds)]
    for axis in np.argsort([cell[0] - cell[2], cell[1] - cell[3]]).tolist():
        values = load.where[:, axis]
        middle = float(np.median(values))
        low, high = values <= middle, values > middle
        if cell[axis] < middle < cell[axis + 2] and low.any() and high.any():
            return [
                piece
                for side, end in ((low, axis + 2), (high, axis))
                for piece in _cut(_with(cell, end, middle), _share(load, side), most)
            ]
    return [(cell, load.seconds)]


def _share(load: Load, side: NDArray[np.bool_]) -> Load:
    return Load(load.seconds * float(side.mean()), load.where[side])


def _with(cell: Boxes, side: int, value: float) -> Boxes:
    changed = cell.copy()
    changed[side] = value
    return changed


def _joined(
    boxes: Boxes, seconds: NDArray[np.float64], times: int, most: float, growth: float
) -> tuple[Boxes, NDArray[np.float64]]:
    """Join up to `times` pairs, the emptiest first; none is joined twice."""
    free = seconds <= most
    kept = np.ones(len(boxes), np.bool_)
    boxes, seconds = boxes.copy(), seconds.copy()
    for first in np.argsort(seconds, kind="stable").tolist():
        if times <= 0:
            break
        if not free[first]:
            continue
        around = _around(boxes[first], boxes)
        both = _area(boxes[first]) + _area(boxes)
        grown = np.divide(_area(around), both, out=np.ones(len(both)), where=both > 0)
        possible = free & (seconds + seconds[first] <= most) & (grown < growth)
        possible[first] = False
        if possible.any():
            partner = int(np.argmin(np.where(possible, grown, np.inf)))
            boxes[first], seconds[first] = around[partner], seconds[first] + seconds[partner]
            free[[first, partner]] = kept[partner] = False
            times -= 1
    return boxes[kept], seconds[kept]


def _around(one: Boxes, others: Boxes) -> Boxes:
    low, high = np.minimum(one[:2], others[:, :2]), np.maximum(one[2:], others[:, 2:])
    return np.hstack([low, high])


def _area(boxes: Boxes) -> NDArray[np.float64]:
    sides = boxes[..., 2:] - boxes[..., :2]
    return np.asarray(sides[..., 0] * sides[..., 1])
