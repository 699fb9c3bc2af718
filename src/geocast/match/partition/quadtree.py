"""Quadtree: the fullest cell is cut into four equal ones.

Cells are small where subscriptions are dense; their sides are halves of halves, so that they fit
the data only roughly, and never cut more finely in one direction than in the other.

**Where it comes from.** R. A. Finkel, J. L. Bentley: "Quad trees", Acta Informatica 4, 1974.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Cells, Points
from geocast.match.partition.splitting import Box, split_fullest

__all__ = ["QuadtreeCells"]


class QuadtreeCells:
    """See `geocast.match.partition.base.Method`."""

    name: ClassVar[str] = "QT"
    title: ClassVar[str] = "quadtree"

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return one cell, four, seven, and so on up to `count`."""
        return split_fullest(sample, count, 4, _quarters)


def _quarters(box: Box, points: Points) -> list[Box]:
    west, south, east, north = box
    x, y = west + (east - west) / 2, south + (north - south) / 2
    if not (west < x < east and south < y < north) or (points == points[0]).all():
        return []
    return [
        (west, south, x, y),
        (x, south, east, y),
        (west, y, x, north),
        (x, y, east, north),
    ]
