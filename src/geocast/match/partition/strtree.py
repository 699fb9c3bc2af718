"""STR: vertical slices with equally many centres, each cut into equally full runs.

As even as the KDB tree; but all cells of a slice are equally wide, and thin where data are dense
from south to north.

**Where it comes from.** S. T. Leutenegger, M. A. Lopez, J. Edgington: "STR: a simple and efficient
algorithm for R-tree packing", ICDE 1997.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Cells, centres, extent
from geocast.match.partition.grid import lattice

__all__ = ["StrTiles"]


class StrTiles:
    """See `geocast.match.partition.base.Method`."""

    name: ClassVar[str] = "ST"
    title: ClassVar[str] = "STR tree"

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return `count` cells, or fewer where centres coincide; they touch, without overlap."""
        covered = extent(sample)
        west, south, east, north = covered[0]
        points = centres(sample)
        slices = math.isqrt(count)
        runs = np.diff(np.linspace(0, count, slices + 1).round()).astype(int)
        xs = _lines(points[:, 0], np.linspace(0, 1, slices + 1)[1:-1], west, east)
        place = np.searchsorted(xs[1:-1], points[:, 0])
        cells = []
        for number in range(max(1, len(xs) - 1)):
            heights = points[place == number, 1]
            shares = np.linspace(0, 1, runs[number] + 1)[1:-1]
            ys = _lines(heights, shares, south, north)
            cells.append(lattice(xs[number : number + 2], ys))
        return Cells(np.concatenate(cells), covered)


def _lines(values: np.ndarray, shares: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return where to cut, the borders among it: at those shares of the values."""
    inner = np.quantile(values, shares) if len(values) else np.empty(0)
    return np.unique(np.concatenate([[low], inner, [high]]))
