"""A quick proof that an area is valid; what it cannot prove, GEOS decides.

GEOS takes as long to validate a polygon as the kernels take to match it. Nearly all polygons are
valid in the plainest way, which is quick to prove:

1. no two edges touch, but for neighbours in a ring, and those only in the vertex they share;
2. so rings are simple and disjoint, and nest like a forest. Let the depth of a ring be how many
   rings lie around it. If every shell has an even depth, and every hole lies in the shell of its
   own part at a depth one greater, then the parent of a hole is its shell, and the parent of a
   shell is a hole or nothing; which is what valid means.

A shape whose edges would take too many comparisons is left to GEOS, and so is one whose rings
touch, which may be legal.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.apart import Room, edges_apart, new_room
from geocast.match.geometry.blocks import block_boxes
from geocast.match.geometry.exact import UNSURE
from geocast.match.geometry.rays import in_ring
from geocast.match.geometry.shapes import Shapes, most_vertices, path_range

__all__ = ["surely_valid"]


@njit(cache=True)
def _rings_nest(shapes: Shapes, g: int, blocks: NDArray[np.float64]) -> bool:
    """Check (2), by a ray from the first vertex of each ring."""
    xy, path_off = shapes.xy, shapes.path_off
    first, last = path_range(shapes, g)
    boxes = _ring_boxes(xy, path_off, first, last)
    depth = np.zeros(last - first, np.int64)
    for part in range(shapes.geom_off[g], shapes.geom_off[g + 1]):
        shell = shapes.part_off[part]
        for path in range(shell, shapes.part_off[part + 1]):
            x, y = xy[path_off[path], 0], xy[path_off[path], 1]
            in_shell = False
            for other in range(first, last):
                if other == path or not _in_box(boxes[other - first], x, y):
                    continue
                place = in_ring(xy, blocks, path_off[other], path_off[other + 1] - 1, x, y)
                if place == UNSURE:
                    return False
                depth[path - first] += place
                in_shell = in_shell or (place == 1 and other == shell)
            if path == shell:
                if depth[path - first] % 2 == 1:
                    return False
            elif not in_shell or depth[path - first] != depth[shell - first] + 1:
                return False
    return True


@njit(cache=True)
def _ring_boxes(
    xy: NDArray[np.float64], path_off: NDArray[np.int32], first: int, last: int
) -> NDArray[np.float64]:
    boxes = np.empty((last - first, 4))
    for path in range(first, last):
        x0 = x1 = xy[path_off[path], 0]
        y0 = y1 = xy[path_off[path], 1]
        for v in range(path_off[path] + 1, path_off[path + 1]):
            x0, x1 = min(x0, xy[v, 0]), max(x1, xy[v, 0])
            y0, y1 = min(y0, xy[v, 1]), max(y1, xy[v, 1])
        box = boxes[path - first]
        box[0], box[1], box[2], box[3] = x0, y0, x1, y1
    return boxes


@njit(cache=True, inline="always")
def _in_box(box: NDArray[np.float64], x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def surely_valid(shapes: Shapes, flaw: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return for each geometry whether it is proved to be valid, its rings apart.

    Points always are; lines are if they have two different vertices, which decoding has checked.
    What decoding found a flaw in is not proved.
    """
    return _proved(shapes, flaw, new_room(most_vertices(shapes)))


@njit(cache=True, nogil=True)
def _proved(shapes: Shapes, flaw: NDArray[np.uint8], room: Room) -> NDArray[np.bool_]:
    sure = flaw == 0
    blocks = block_boxes(shapes.xy)
    for g in range(len(shapes.dim)):
        if shapes.dim[g] < 2 or not sure[g]:
            continue
        first, last = path_range(shapes, g)
        sure[g] = edges_apart(shapes, g, room) and (
            last - first == 1 or _rings_nest(shapes, g, blocks)
        )
    return sure
