"""KDB tree: the fullest cell is cut in two, at the median of its longer side.

Both halves hold equally many centres, however skewed the data are. Cells become long and thin
where many centres share a coordinate.

**Where it comes from.** J. T. Robinson: "The K-D-B-tree", SIGMOD 1981.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Cells, Points
from geocast.match.partition.splitting import Box, split_fullest

__all__ = ["KdbTree"]


class KdbTree:
    """See `geocast.match.partition.base.Method`."""

    name: ClassVar[str] = "KT"
    title: ClassVar[str] = "KDB tree"

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return `count` cells, or fewer where centres coincide."""
        return split_fullest(sample, count, 2, _halves)


def _halves(box: Box, points: Points) -> list[Box]:
    longer = int(box[3] - box[1] > box[2] - box[0])
    for axis in (longer, 1 - longer):
        line = _median_line(points[:, axis])
        if line is not None and box[axis] < line < box[axis + 2]:
            first, second = list(box), list(box)
            first[axis + 2] = second[axis] = line
            return [(*first,), (*second,)]  # type: ignore[list-item]
    return []


def _median_line(values: np.ndarray) -> float | None:
    """Return a line between two different values near the middle, None if there is only one."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == 1:
        return None
    before = np.cumsum(counts)[:-1]
    place = int(np.argmin(np.abs(before - len(values) / 2)))
    return float(distinct[place] + (distinct[place + 1] - distinct[place]) / 2)
