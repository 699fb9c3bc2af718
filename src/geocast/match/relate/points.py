"""Single points against the cell index: no geometry but a few edges of the point's own leaf.

The batch is sorted along a Morton curve, so that neighbours read the same cells one after
another. Points in one leaf share the list of what covers the leaf; it is made and sorted once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes
from geocast.match.index.frame import (
    DEEPEST,
    FAN,
    FAN_BITS,
    ORIGIN,
    REFERENCE_X,
    REFERENCE_Y,
    ROOT_LEVEL,
    SPAN,
)
from geocast.match.index.trie import INSIDE, OUTSIDE, UNKNOWN, Trie, entry_geometry
from geocast.match.relate.lists import Lists, merge_tail, room, sort_range
from geocast.match.relate.place import place_in_entry

__all__ = ["Labels", "curve_order", "leaf_of", "match_points"]

_KEY_BITS = 11


class Labels(NamedTuple):
    """What a hit on geometry g emits.

    Rows of subscriptions stand by geometry. A point inside g matches the rows
    ranges[g, 0]:ranges[g, 1], a point on its boundary ranges[g, 2]:ranges[g, 3]; label[row] is
    what the list receives.
    """

    ranges: NDArray[np.int32]
    label: NDArray[np.int32]


@njit(cache=True, inline="always")
def _spread(v: np.uint32) -> np.uint32:
    """Put a zero before each of the eleven low bits."""
    v = (v | (v << 8)) & 0x00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F
    v = (v | (v << 2)) & 0x33333333
    return (v | (v << 1)) & 0x55555555


@njit(cache=True)
def curve_order(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the points' numbers along a Morton curve over their own extent: a radix sort."""
    n, cells = len(xs), (1 << _KEY_BITS) - 1
    x0, x1, y0, y1 = xs.min(), xs.max(), ys.min(), ys.max()
    sx = cells / (x1 - x0) if x1 > x0 else 0.0
    sy = cells / (y1 - y0) if y1 > y0 else 0.0
    key = np.empty(n, np.uint32)
    low = np.zeros(cells + 2, np.int64)
    high = np.zeros(cells + 2, np.int64)
    for i in range(n):
        column, row = np.uint32((xs[i] - x0) * sx), np.uint32((ys[i] - y0) * sy)
        k = _spread(column) | (_spread(row) << 1)
        key[i] = k
        low[(k & cells) + 1] += 1
        high[(k >> _KEY_BITS) + 1] += 1
    for k in range(cells + 1):
        low[k + 1] += low[k]
        high[k + 1] += high[k]
    half_sorted, order = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        digit = key[i] & cells
        half_sorted[low[digit]] = i
        low[digit] += 1
    for k in range(n):
        i = half_sorted[k]
        digit = key[i] >> _KEY_BITS
        order[high[digit]] = i
        high[digit] += 1
    return order


@njit(cache=True, inline="always")
def leaf_of(trie: Trie, ix: int, iy: int) -> tuple[int, int]:
    """Return the leaf that holds the deepest-level cell (ix, iy), and its shift from DEEPEST."""
    shift = DEEPEST - ROOT_LEVEL
    slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
    child = trie.slot[slot, 0]
    while child >= 0:
        shift -= FAN_BITS
        slot = child + ((((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1)))
        child = trie.slot[slot, 0]
    return slot, shift


@njit(cache=True)
def _cover_of(
    trie: Trie, labels: Labels, ix: int, iy: int, out: NDArray[np.int32], sort: bool
) -> tuple[NDArray[np.int32], int]:
    """List what covers the leaf of (ix, iy) wholly, from the root down; grows `out` if need be."""
    n = 0
    shift = DEEPEST - ROOT_LEVEL
    slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
    while True:
        first = trie.slot[slot, 1]
        for k in range(first, first + trie.slot[slot, 3]):
            g = trie.inner[k]
            lo, hi = labels.ranges[g, 0], labels.ranges[g, 1]
            out = room(out, n, hi - lo)
            for row in range(lo, hi):
                out[n] = labels.label[row]
                n += 1
        child = trie.slot[slot, 0]
        if child < 0:
            break
        shift -= FAN_BITS
        slot = child + ((((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1)))
    if sort:
        sort_range(out, 0, n)
    return out, n


@njit(cache=True, nogil=True)
def match_points(
    trie: Trie, shapes: Shapes, labels: Labels, sort: bool,
    xs: NDArray[np.float64], ys: NDArray[np.float64], order: NDArray[np.int32], lists: Lists,
) -> tuple[NDArray[np.int32], int, NDArray[np.int32], int]:  # fmt: skip
    """List the labels that each point matches.

    lists.start and lists.length are set; returns the values, their number, and the points and
    geometries (as rows of two) that GEOS must decide, and their number.
    """
    scale = (1 << DEEPEST) / SPAN
    values, used = np.empty(max(1024, 8 * len(xs)), np.int32), 0
    doubts, doubtful = np.empty((64, 2), np.int32), 0
    cover, covering, leaf = np.empty(256, np.int32), 0, -1
    scratch = np.empty(256, np.int32)
    for k in range(len(order)):
        i = order[k]
        x, y = xs[i], ys[i]
        ix, iy = int((x - ORIGIN) * scale), int((y - ORIGIN) * scale)
        slot, shift = leaf_of(trie, ix, iy)
        if slot != leaf:
            cover, covering = _cover_of(trie, labels, ix, iy, cover, sort)
            leaf = slot
        values = room(values, used, covering)
        start = used
        for c in range(covering):
            values[used + c] = cover[c]
        used += covering
        e0, e1 = trie.slot[slot, 2], trie.slot[slot + 1, 2]
        if e1 > e0:
            h = SPAN / (1 << (DEEPEST - shift))
            rx = ORIGIN + ((ix >> shift) + REFERENCE_X) * h
            ry = ORIGIN + ((iy >> shift) + REFERENCE_Y) * h
            for t in range(e0, e1):
                place = place_in_entry(trie, shapes, t, rx, ry, x, y)
                if place == OUTSIDE:
                    continue
                g = entry_geometry(trie, t)
                if place == UNKNOWN:
                    if doubtful == len(doubts):
                        doubts = np.concatenate((doubts, doubts))
                    doubts[doubtful, 0], doubts[doubtful, 1] = i, g
                    doubtful += 1
                    continue
                at = 0 if place == INSIDE else 2
                lo, hi = labels.ranges[g, at], labels.ranges[g, at + 1]
                values = room(values, used, hi - lo)
                for row in range(lo, hi):
                    values[used] = labels.label[row]
                    used += 1
            if sort and used > start + covering:
                scratch = merge_tail(values, start, start + covering, used, scratch)
        lists.start[i] = start
        lists.length[i] = used - start
    return values, used, doubts, doubtful
