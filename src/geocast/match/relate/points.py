"""Single points against the cell index: no geometry but a few edges of the point's own leaf.

The batch is sorted along a Morton curve, so that neighbours read the same cells one after
another. What covers a cell is listed and sorted once, starting from the list of its parent. Points
in the same place share a list: those inside the same geometries of one leaf.
"""

from __future__ import annotations

from typing import Final, NamedTuple

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
from geocast.match.index.trie import (
    INSIDE,
    OUTSIDE,
    UNKNOWN,
    Trie,
    cross_run,
    is_one_run,
    run_length,
)
from geocast.match.machine import prefetch
from geocast.match.relate.lists import Lists, merge_tail, room
from geocast.match.relate.place import place_in_entry

__all__ = ["Labels", "curve_order", "match_points"]

_KEY_BITS = 11
_AHEAD: Final = 32
_MOST_PLACES: Final = 31  # two bits each in one number
_LONG: Final = -1
_VERTICES_A_LINE: Final = 4
_LEVELS: Final = (DEEPEST - ROOT_LEVEL) // FAN_BITS + 1


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


@njit(cache=True)
def _copied(
    values: NDArray[np.int32], used: int, start: int, length: int
) -> tuple[NDArray[np.int32], int]:
    """Append a copy of values[start : start + length]; returns the array and its new end."""
    values = room(values, used, length)
    for k in range(length):
        values[used + k] = values[start + k]
    return values, used + length


@njit(cache=True, inline="always")
def _with_rows(
    label: NDArray[np.int32], lo: int, hi: int, values: NDArray[np.int32], end: int
) -> tuple[NDArray[np.int32], int]:
    """Append the labels of rows lo:hi."""
    values = room(values, end, hi - lo)
    for row in range(lo, hi):
        values[end] = label[row]
        end += 1
    return values, end


@njit(cache=True, inline="always")
def _sorted_tail(
    values: NDArray[np.int32], a: int, middle: int, end: int, sort: bool
) -> NDArray[np.int32]:
    return merge_tail(values, a, middle, end) if sort and end > middle else values


@njit(cache=True)
def _with_cover(
    inner: NDArray[np.int32], first: int, count: int, labels: Labels, sort: bool,
    values: NDArray[np.int32], used: int, start: int, length: int,
) -> tuple[NDArray[np.int32], int]:  # fmt: skip
    """Append the list of a parent cell joined with what covers the cell itself."""
    ranges, label = labels.ranges, labels.label
    values, end = _copied(values, used, start, length)
    for k in range(first, first + count):
        g = inner[k]
        values, end = _with_rows(label, ranges[g, 0], ranges[g, 1], values, end)
    return _sorted_tail(values, used, used + length, end, sort), end


@njit(cache=True)
def _with_entries(
    entry: NDArray[np.uint32], e0: int, e1: int, places: NDArray[np.uint8], labels: Labels,
    sort: bool, values: NDArray[np.int32], used: int, start: int, length: int,
) -> tuple[NDArray[np.int32], int]:  # fmt: skip
    """Append the list of a leaf joined with what its entries add for a point at these places."""
    ranges, label = labels.ranges, labels.label
    values, end = _copied(values, used, start, length)
    for t in range(e0, e1):
        place = places[t - e0]
        if place == OUTSIDE:
            continue
        g, at = entry[t, 0] >> 8, 0 if place == INSIDE else 2
        values, end = _with_rows(label, ranges[g, at], ranges[g, at + 1], values, end)
    return _sorted_tail(values, used, used + length, end, sort), end


@njit(cache=True)
def _fetch_ahead(
    slots: NDArray[np.int32], entry: NDArray[np.uint32], xy: NDArray[np.float64],
    xs: NDArray[np.float64], ys: NDArray[np.float64], order: NDArray[np.int32], k: int,
) -> None:  # fmt: skip
    """Let the processor fetch what the next points will read; memory is slower than geometry."""
    leaf = np.empty(_AHEAD, np.int64)
    scale = (1 << DEEPEST) / SPAN
    last, n = -1, 0
    for m in range(k, min(k + _AHEAD, len(order))):
        i = order[m]
        ix, iy = int((xs[i] - ORIGIN) * scale), int((ys[i] - ORIGIN) * scale)
        shift = DEEPEST - ROOT_LEVEL
        slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
        child = slots[slot, 0]
        while child >= 0:
            shift -= FAN_BITS
            slot = child + ((((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1)))
            child = slots[slot, 0]
        if slot != last:
            prefetch(entry, 2 * slots[slot, 2])
            last = leaf[n] = slot
            n += 1
    for m in range(n):
        for t in range(slots[leaf[m], 2], slots[leaf[m] + 1, 2]):
            if is_one_run(entry[t, 0]):
                first = np.int64(entry[t, 1])
                for v in range(first, first + run_length(entry[t, 0]) + 1, _VERTICES_A_LINE):
                    prefetch(xy, 2 * v)


@njit(cache=True, nogil=True)
def match_points(
    trie: Trie, shapes: Shapes, labels: Labels, sort: bool,
    xs: NDArray[np.float64], ys: NDArray[np.float64], order: NDArray[np.int32], lists: Lists,
    values: NDArray[np.int32],
) -> tuple[NDArray[np.int32], int, NDArray[np.int32], int]:  # fmt: skip
    """List the labels that each point matches.

    lists.start and lists.length are set; points may share a list. Returns the values (the given
    array, or a larger one), their number, and the points and geometries (as rows of two) that GEOS
    must decide, and their number.
    """
    slots, inner, entry, xy = trie.slot, trie.inner, trie.entry, shapes.xy
    starts, lengths = lists.start, lists.length
    scale = (1 << DEEPEST) / SPAN
    used = 0
    doubts, doubtful = np.empty((64, 2), np.int32), 0
    path = np.full((_LEVELS, 3), -1, np.int64)  # of the last leaf: slot, start and length of list
    memo, known, leaf = np.empty((8, 3), np.int64), 0, -1  # in it: pattern, start and length
    places = np.empty(64, np.uint8)
    for k in range(len(order)):
        if k % _AHEAD == 0:
            _fetch_ahead(slots, entry, xy, xs, ys, order, k)
        i = order[k]
        x, y = xs[i], ys[i]
        ix, iy = int((x - ORIGIN) * scale), int((y - ORIGIN) * scale)
        start = length = 0
        level, shift = 0, DEEPEST - ROOT_LEVEL
        slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
        while True:
            if path[level, 0] != slot:
                if slots[slot, 3] > 0:
                    values, end = _with_cover(
                        inner,
                        slots[slot, 1],
                        slots[slot, 3],
                        labels,
                        sort,
                        values,
                        used,
                        start,
                        length,
                    )
                    start, length, used = used, end - used, end
                path[level, 0], path[level, 1], path[level, 2] = slot, start, length
            else:
                start, length = path[level, 1], path[level, 2]
            child = slots[slot, 0]
            if child < 0:
                break
            level += 1
            shift -= FAN_BITS
            slot = child + ((((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1)))
        e0, e1 = slots[slot, 2], slots[slot + 1, 2]
        if e1 > e0:
            h = SPAN / (1 << (DEEPEST - shift))
            rx = ORIGIN + ((ix >> shift) + REFERENCE_X) * h
            ry = ORIGIN + ((iy >> shift) + REFERENCE_Y) * h
            if e1 - e0 > len(places):
                places = np.empty(2 * (e1 - e0), np.uint8)
            pattern = 0
            for t in range(e0, e1):
                head = entry[t, 0]
                if is_one_run(head):
                    run = np.int64(entry[t, 1])
                    place = cross_run(xy, run, run_length(head), head & 3, rx, ry, x, y)
                else:
                    place = place_in_entry(trie, shapes, t, rx, ry, x, y)
                if place == UNKNOWN:
                    if doubtful == len(doubts):
                        doubts = np.concatenate((doubts, doubts))
                    doubts[doubtful, 0], doubts[doubtful, 1] = i, head >> 8
                    doubtful += 1
                    place = OUTSIDE
                places[t - e0] = place
                pattern = (pattern << 2) | place
            if e1 - e0 > _MOST_PLACES:
                pattern = _LONG
            if slot != leaf:
                leaf, known = slot, 0
            found = 0
            while found < known and memo[found, 0] != pattern:
                found += 1
            if pattern == 0:
                pass  # outside all of them: what covers the leaf is the list
            elif found < known:
                start, length = memo[found, 1], memo[found, 2]
            else:
                values, end = _with_entries(
                    entry, e0, e1, places, labels, sort, values, used, start, length
                )
                start, length, used = used, end - used, end
                if known < len(memo) and pattern != _LONG:
                    memo[known, 0], memo[known, 1], memo[known, 2] = pattern, start, length
                    known += 1
        starts[i] = start
        lengths[i] = length
    return values, used, doubts, doubtful
