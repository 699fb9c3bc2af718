"""Bounding boxes of blocks of consecutive vertices, to pass over many edges at once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["BLOCK", "block_boxes"]

BLOCK: Final = 32


@njit(cache=True, nogil=True)
def block_boxes(xy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the box of vertices BLOCK * k to BLOCK * (k + 1), the last one included, for each k.

    So it holds every edge that starts in the block, whatever geometries the vertices belong to.
    """
    boxes = np.empty(((len(xy) + BLOCK - 1) // BLOCK, 4))
    for k in range(len(boxes)):
        x0 = x1 = xy[k * BLOCK, 0]
        y0 = y1 = xy[k * BLOCK, 1]
        for v in range(k * BLOCK + 1, min(len(xy), (k + 1) * BLOCK + 1)):
            x0, x1 = min(x0, xy[v, 0]), max(x1, xy[v, 0])
            y0, y1 = min(y0, xy[v, 1]), max(y1, xy[v, 1])
        boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3] = x0, y0, x1, y1
    return boxes
