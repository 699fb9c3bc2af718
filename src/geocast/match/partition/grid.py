"""Equal grid: columns and rows of one size over the extent.

The simplest of all; nothing is balanced, so that most cells of real data are empty and a few hold
nearly everything.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Cells, extent

__all__ = ["EqualGrid"]


class EqualGrid:
    """See `geocast.match.partition.base.Method`."""

    name: ClassVar[str] = "EG"
    title: ClassVar[str] = "equal grid"

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return as many columns as rows, or a few rows more."""
        covered = extent(sample)
        west, south, east, north = covered[0]
        columns = math.isqrt(count)
        xs = np.unique(np.linspace(west, east, columns + 1))
        ys = np.unique(np.linspace(south, north, count // columns + 1))
        return Cells(lattice(xs, ys), covered)


def lattice(xs: np.ndarray, ys: np.ndarray) -> Boxes:
    """Return the boxes between neighbouring lines; a single line is a box without width."""
    xs, ys = (np.repeat(lines, 2) if len(lines) == 1 else lines for lines in (xs, ys))
    low = np.stack(np.meshgrid(xs[:-1], ys[:-1]), axis=-1).reshape(-1, 2)
    high = np.stack(np.meshgrid(xs[1:], ys[1:]), axis=-1).reshape(-1, 2)
    return np.hstack([low, high])
