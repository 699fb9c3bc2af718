"""Whether a point lies in a ring, by the edges that a ray from it crosses."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.blocks import BLOCK
from geocast.match.geometry.exact import UNSURE, orientation

__all__ = ["in_ring"]


@njit(cache=True, _nrt=False)
def in_ring(
    xy: NDArray[np.float64], blocks: NDArray[np.float64], a: int, b: int, x: float, y: float
) -> int:
    """Does (x, y), which is on no edge, lie in the ring of vertices a to b? 1, 0, or UNSURE."""
    crossings, v = 0, a
    while v < b:
        k = v // BLOCK
        end = min(b, (k + 1) * BLOCK)
        if blocks[k, 1] <= y <= blocks[k, 3] and x <= blocks[k, 2]:
            for w in range(v, end):
                if (xy[w, 1] <= y) != (xy[w + 1, 1] <= y):
                    crosses = _right_of(xy, w, x, y)
                    if crosses == UNSURE:
                        return UNSURE
                    crossings += crosses
        v = end
    return crossings & 1


@njit(cache=True, _nrt=False)
def _right_of(xy: NDArray[np.float64], v: int, x: float, y: float) -> int:
    """Does the ray from (x, y) to the right cross edge v, which spans y? 1, 0, or UNSURE."""
    ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
    if max(ax, bx) < x:
        return 0
    if min(ax, bx) > x:
        return 1
    side = orientation(ax, ay, bx, by, x, y)
    if side == UNSURE or side == 0:
        return UNSURE
    return 1 if (by > ay) == (side > 0) else 0
