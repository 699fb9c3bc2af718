"""Where a point lies in the geometry of a leaf's entry, whatever its dimension."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import UNSURE, on_segment
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import (
    INSIDE,
    NO_AREA,
    ON,
    OUTSIDE,
    UNKNOWN,
    Trie,
    entry_geometry,
    entry_parity,
    entry_run,
    entry_runs,
    locate,
)

__all__ = ["is_line_end", "place_in_entry"]

# Functions that make no arrays are compiled without reference counts (`_nrt=False`): counting those
# of every array in a tuple would cost more than the work itself. Those that LLVM is to inline
# (`forceinline`) are compiled in half the time of those that numba inlines, and run as fast, except
# in the walk and the pictures, where numba's way is a fifth faster.


@njit(cache=True, _nrt=False)
def is_line_end(shapes: Shapes, g: int, x: float, y: float) -> bool:
    """Does (x, y) belong to the boundary of line g: the end of an odd number of its paths?"""
    ends = 0
    first, last = path_range(shapes, g)
    for path in range(first, last):
        a, b = shapes.path_off[path], shapes.path_off[path + 1] - 1
        if shapes.xy[a, 0] == x and shapes.xy[a, 1] == y:
            ends += 1
        if shapes.xy[b, 0] == x and shapes.xy[b, 1] == y:
            ends += 1
    return ends & 1 == 1


@njit(cache=True, _nrt=False)
def _place_on_line(trie: Trie, shapes: Shapes, t: int, x: float, y: float) -> int:
    xy = shapes.xy
    unknown = False
    for r in range(entry_runs(trie, t)):
        first, length = entry_run(trie, t, r)
        for v in range(first, first + length):
            s = on_segment(xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1], x, y)
            if s == 1:
                return ON if is_line_end(shapes, entry_geometry(trie, t), x, y) else INSIDE
            unknown = unknown or s == UNSURE
    return UNKNOWN if unknown else OUTSIDE


@njit(cache=True, _nrt=False)
def _place_on_points(trie: Trie, xy: NDArray[np.float64], t: int, x: float, y: float) -> int:
    for r in range(entry_runs(trie, t)):
        first, length = entry_run(trie, t, r)
        for v in range(first, first + length):
            if xy[v, 0] == x and xy[v, 1] == y:
                return INSIDE
    return OUTSIDE


@njit(cache=True, forceinline=True, _nrt=False)
def place_in_entry(
    trie: Trie, shapes: Shapes, t: int, rx: float, ry: float, x: float, y: float
) -> int:
    """Return OUTSIDE, INSIDE (the interior), ON (the boundary) or UNKNOWN for (x, y).

    r is the reference point of the leaf that holds (x, y) and the entry.
    """
    if entry_parity(trie, t) != NO_AREA:
        return locate(trie, shapes.xy, t, rx, ry, x, y)
    if shapes.dim[entry_geometry(trie, t)] == 1:
        return _place_on_line(trie, shapes, t, x, y)
    return _place_on_points(trie, shapes.xy, t, x, y)
