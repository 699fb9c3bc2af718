"""Space-filling curves: one number per place, such that near numbers are near places.

A curve visits every cell of a grid of 2^order x 2^order cells once. The number of a cell
along the curve is its key. Sorting places by key brings neighbours together, which is what
packed trees, partitioners and caches ask for.

- The **Hilbert** curve steps only between cells that share a side: the best locality, at
  the price of a loop over the bits (D. Hilbert, 1891; the loop is the usual one of
  "Hacker's Delight", chapter 16).
- The **Morton** curve (Z-order) interleaves the bits of x and y: very cheap, and the first
  2k bits of a key name the cell's ancestor in a quadtree of depth k; but it jumps
  (G. M. Morton, 1966).

Both are weak where nearness must hold in the other direction: near places may have keys far
apart, on either side of a border between large quadrants.

`*_key` take one cell and may be called from numba kernels; `*_keys` take arrays.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "MAX_ORDER",
    "grid_coordinate",
    "grid_coordinates",
    "grid_scale",
    "hilbert_key",
    "hilbert_keys",
    "hilbert_order",
    "morton_key",
    "morton_keys",
]

MAX_ORDER = 32
"""The finest grid whose keys still fit into 64 bits."""


@njit(cache=True)
def hilbert_key(x: np.uint32, y: np.uint32, order: int) -> np.uint64:
    """Return the place of cell (x, y) along the Hilbert curve through 2^order x 2^order cells.

    Only the lowest `order` bits of x and y count, so a rotated quadrant may simply be
    complemented.
    """
    one = np.uint64(1)
    column, row, key = np.uint64(x), np.uint64(y), np.uint64(0)
    for bit in range(order - 1, -1, -1):
        shift = np.uint64(bit)
        right = (column >> shift) & one
        upper = (row >> shift) & one
        key = (key << np.uint64(2)) | ((right * np.uint64(3)) ^ upper)
        if upper == 0:
            if right == 1:
                column, row = ~column, ~row
            column, row = row, column
    return key


@njit(cache=True)
def _spread(value: np.uint32) -> np.uint64:
    """Put a zero before each of the 32 lower bits of `value`."""
    bits = np.uint64(value) & np.uint64(0x00000000FFFFFFFF)
    bits = (bits | (bits << np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    bits = (bits | (bits << np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    bits = (bits | (bits << np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    bits = (bits | (bits << np.uint64(2))) & np.uint64(0x3333333333333333)
    return (bits | (bits << np.uint64(1))) & np.uint64(0x5555555555555555)


@njit(cache=True)
def morton_key(x: np.uint32, y: np.uint32) -> np.uint64:
    """Return the place of cell (x, y) along the Morton curve: the bits of y and x in turn."""
    return np.uint64((_spread(y) << np.uint64(1)) | _spread(x))


@njit(cache=True)
def grid_scale(low: float, high: float, order: int) -> float:
    """Return the cells per unit of 2^order cells from `low` to `high`; 0 where they coincide."""
    return float(1 << order) / (high - low) if high > low else 0.0


@njit(cache=True)
def grid_coordinate(value: float, low: float, scale: float, order: int) -> int:
    """Return the column (or row) of `value` in a grid that begins at `low`.

    Never decreases as `value` grows, which is all that an index needs to be exact; values
    beyond the grid fall into its first or last column, so infinities are welcome.
    """
    place = (value - low) * scale
    last = (1 << order) - 1
    if not place > 0.0:
        return 0
    return last if place >= last else int(place)


@njit(cache=True)
def _each_hilbert_key(
    x: NDArray[np.uint32], y: NDArray[np.uint32], order: int
) -> NDArray[np.uint64]:
    keys = np.empty(len(x), np.uint64)
    for i in range(len(x)):
        keys[i] = hilbert_key(x[i], y[i], order)
    return keys


@njit(cache=True)
def _each_morton_key(x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.uint64]:
    keys = np.empty(len(x), np.uint64)
    for i in range(len(x)):
        keys[i] = morton_key(x[i], y[i])
    return keys


@njit(cache=True)
def _each_grid_coordinate(
    values: NDArray[np.float64], low: float, high: float, order: int
) -> NDArray[np.uint32]:
    scale = grid_scale(low, high, order)
    columns = np.empty(len(values), np.uint32)
    for i in range(len(values)):
        columns[i] = grid_coordinate(values[i], low, scale, order)
    return columns


def hilbert_keys(
    x: NDArray[np.uint32], y: NDArray[np.uint32], order: int = 16
) -> NDArray[np.uint64]:
    """Return the Hilbert keys of cells (x[i], y[i]); 1 <= order <= MAX_ORDER."""
    keys: NDArray[np.uint64] = _each_hilbert_key(x, y, order)
    return keys


def morton_keys(x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the Morton keys of cells (x[i], y[i])."""
    keys: NDArray[np.uint64] = _each_morton_key(x, y)
    return keys


def grid_coordinates(
    values: NDArray[np.float64], low: float, high: float, order: int
) -> NDArray[np.uint32]:
    """Return the columns of `values` in a grid of 2^order columns from `low` to `high`."""
    columns: NDArray[np.uint32] = _each_grid_coordinate(values, float(low), float(high), order)
    return columns


def hilbert_order(boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rows of `boxes` (minx, miny, maxx, maxy) in Hilbert order of their centres.

    The curve runs through 65,536 x 65,536 cells over the extent of the centres; boxes with
    their centres in one cell keep their order.
    """
    cells = []
    for axis in (0, 1):
        centres = boxes[:, axis] / 2 + boxes[:, axis + 2] / 2
        begin, end = centres.min(initial=np.inf), centres.max(initial=-np.inf)
        cells.append(grid_coordinates(centres, begin, end, 16))
    return np.argsort(hilbert_keys(cells[0], cells[1], 16), kind="stable")
