"""STR tree: a packed R-tree tiled by sorting.

**What it is.** A packed R-tree (see `geocast.match.index.packed`) whose nodes form a
chequered pattern of about as many columns as rows.

**How it is built.** For P nodes, the boxes are sorted by the x of their centres and cut into
about sqrt(P) vertical slices; each slice is sorted by y and cut into nodes. The nodes are
then tiled in the same way, and so on upwards. Every level is sorted anew, which makes the
nodes squarer, and the tree slower to build, than one sort along a curve would.

**When it is weak.** Slices hold equal numbers, not equal widths: where density varies much
along y but not along x, nodes become long and thin. As in every packed tree only centres
count, so that a large box swells the node it falls into.

**Where it comes from.** S. T. Leutenegger, M. A. Lopez, J. Edgington: "STR: a simple and
efficient algorithm for R-tree packing", ICDE 1997. JTS, GEOS and Shapely have it under the
same name.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from geocast.match.index.base import Boxes
from geocast.match.index.packed import FAN_OUT, PackedTree

__all__ = ["STRTree"]


class STRTree(PackedTree):
    """A packed R-tree whose levels are tiled by sorting along x, then along y."""

    name = "strtree"

    @classmethod
    def _item_order(cls, boxes: Boxes) -> NDArray[np.int64]:
        return _tiled(boxes)

    @classmethod
    def _node_order(cls, boxes: Boxes) -> NDArray[np.int64]:
        return _tiled(boxes)


def _tiled(boxes: Boxes) -> NDArray[np.int64]:
    """Return the rows of `boxes` slice by slice along x, and along y within each slice."""
    nodes = -(-len(boxes) // FAN_OUT)
    slice_size = max(1, math.isqrt(max(0, nodes - 1)) + 1) * FAN_OUT
    centres = boxes[:, :2] / 2 + boxes[:, 2:] / 2
    along_x = np.argsort(centres[:, 0], kind="stable")
    slices = np.arange(len(boxes)) // slice_size
    return along_x[np.lexsort((centres[along_x, 1], slices))]
