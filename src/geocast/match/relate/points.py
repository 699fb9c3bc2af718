"""Single points against the cell index: no geometry but a few edges of the point's own leaf.

The batch is sorted along a Morton curve, so that neighbours read the same cells one after
another. What covers a cell is listed once for all points in it, starting from the list of its
parent. Points in the same place share a list: those inside the same geometries of one leaf.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, frozen
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
    SPILLED,
    UNKNOWN,
    Trie,
    cross_run,
    is_one_run,
    run_length,
)
from geocast.match.machine import prefetch
from geocast.match.relate.lists import Lists, sort_range
from geocast.match.relate.place import place_in_entry

__all__ = ["Labels", "labels_of", "match_points"]

_KEY_BITS: Final = 16
_DIGIT_BITS: Final = 11
_DIGIT_MASK: Final = (1 << _DIGIT_BITS) - 1
_DIGITS: Final = 3
_AHEAD: Final = 32
_MOST_PLACES: Final = 31  # two bits each in one number
_LONG: Final = -1
_NO_ROOM: Final = -1
_DONE: Final = 0
_VALUES: Final = 1
_DOUBTS: Final = 2
_PLACES: Final = 3
_VERTICES_A_LINE: Final = 4
_ENTRIES_A_LINE: Final = 8
_LEVELS: Final = (DEEPEST - ROOT_LEVEL) // FAN_BITS + 1


class Labels(NamedTuple):
    """What a hit on geometry g emits.

    Rows of subscriptions stand by geometry. A point inside g matches the rows
    ranges[g, 0]:ranges[g, 1], a point on its boundary ranges[g, 2]:ranges[g, 3]; label[row] is
    what the list receives. only[g] is the label where one row alone is inside, else negative.
    """

    ranges: NDArray[np.int32]
    label: NDArray[np.int32]
    only: NDArray[np.int32]


def labels_of(ranges: NDArray[np.int32], label: NDArray[np.int32]) -> Labels:
    """Return the labels of rows that stand by geometry as `ranges` tells."""
    single = ranges[:, 1] - ranges[:, 0] == 1
    only = np.full(len(ranges), -1, np.int32)
    only[single] = label[ranges[single, 0]]
    return Labels(ranges, label, frozen(only))


@njit(cache=True, inline="always")
def _spread(v: np.uint32) -> np.uint32:
    """Put a zero before each of the sixteen low bits."""
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
    place = np.zeros((_DIGITS, _DIGIT_MASK + 2), np.int64)
    for i in range(n):
        column, row = np.uint32((xs[i] - x0) * sx), np.uint32((ys[i] - y0) * sy)
        k = _spread(column) | (_spread(row) << 1)
        key[i] = k
        for d in range(_DIGITS):
            place[d, ((k >> (d * _DIGIT_BITS)) & _DIGIT_MASK) + 1] += 1
    order, sorted_more = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    for d in range(_DIGITS):
        for k in range(_DIGIT_MASK + 1):
            place[d, k + 1] += place[d, k]
        for k in range(n):
            i = order[k]
            digit = (key[i] >> (d * _DIGIT_BITS)) & _DIGIT_MASK
            sorted_more[place[d, digit]] = i
            place[d, digit] += 1
        order, sorted_more = sorted_more, order
    return order


@njit(cache=True, inline="always", _nrt=False)
def _rows_inside(labels: Labels, g: int) -> int:
    """Return how many rows a point inside g matches."""
    return 1 if labels.only[g] >= 0 else labels.ranges[g, 1] - labels.ranges[g, 0]


@njit(cache=True, inline="always", _nrt=False)
def _list_rows(
    label: NDArray[np.int32], lo: int, hi: int, values: NDArray[np.int32], end: int
) -> int:
    """Append the labels of rows lo:hi; returns the new end."""
    for row in range(lo, hi):
        values[end] = label[row]
        end += 1
    return end


@njit(cache=True, inline="always", _nrt=False)
def _list_inside(labels: Labels, g: int, values: NDArray[np.int32], end: int) -> int:
    """Append what a point inside g matches; returns the new end."""
    if labels.only[g] < 0:
        return _list_rows(labels.label, labels.ranges[g, 0], labels.ranges[g, 1], values, end)
    values[end] = labels.only[g]
    return end + 1


@njit(cache=True, _nrt=False)
def _join_lists(
    values: NDArray[np.int32], start: int, length: int, used: int, end: int, sort: bool
) -> None:
    """Join values[start : start + length] with values[used + length : end] at values[used:end].

    With `sort` the first list is sorted, and so is what they become.
    """
    i, j, k = start, used + length, used
    stop = start + length
    if sort:
        sort_range(values, j, end)
        while i < stop and j < end:  # without a branch that the processor would have to guess
            left, right = values[i], values[j]
            first = left <= right
            values[k] = left if first else right
            i += first
            j += not first
            k += 1
    while i < stop:
        values[k] = values[i]
        i += 1
        k += 1


@njit(cache=True, inline="always", _nrt=False)
def _list_cover(
    inner: NDArray[np.int32], first: int, count: int, labels: Labels,
    values: NDArray[np.int32], end: int,
) -> int:  # fmt: skip
    """Append what covers a cell; returns the new end, or _NO_ROOM."""
    rows = 0
    for k in range(first, first + count):
        rows += _rows_inside(labels, inner[k])
    if end + rows > len(values):
        return _NO_ROOM
    for k in range(first, first + count):
        end = _list_inside(labels, inner[k], values, end)
    return end


@njit(cache=True, inline="always", _nrt=False)
def _list_entries(
    entry: NDArray[np.uint32], e0: int, e1: int, places: NDArray[np.uint8], labels: Labels,
    values: NDArray[np.int32], end: int,
) -> int:  # fmt: skip
    """Append what the entries of a leaf add for a point at these places; new end, or _NO_ROOM."""
    for t in range(e0, e1):
        place = places[t - e0]
        if place == OUTSIDE:
            continue
        g = np.int64(entry[t, 0] >> 8)
        lo, hi = labels.ranges[g, 2], labels.ranges[g, 3]
        rows = _rows_inside(labels, g) if place == INSIDE else hi - lo
        if end + rows > len(values):
            return _NO_ROOM
        if place == INSIDE:
            end = _list_inside(labels, g, values, end)
        else:
            end = _list_rows(labels.label, lo, hi, values, end)
    return end


@njit(cache=True, _nrt=False)
def _fetch_ahead(
    trie: Trie, only: NDArray[np.int32], xy: NDArray[np.float64],
    xs: NDArray[np.float64], ys: NDArray[np.float64], order: NDArray[np.int32], k: int,
    ahead: NDArray[np.int64],
) -> None:  # fmt: skip
    """Let the processor fetch what the next points will read; memory is slower than geometry.

    All of them take one step at a time, so that the processor waits for many places in memory at
    once: from cell to cell, then to the lists of their leaves, then to what those name.
    """
    slots, inner, entry, spill_off = trie.slot, trie.inner, trie.entry, trie.spill_off
    n = _descend(trie, xs, ys, order, k, min(_AHEAD, len(order) - k), ahead)
    for m in range(n):
        slot = ahead[m, 0]
        for t in range(slots[slot, 2], slots[slot + 1, 2], _ENTRIES_A_LINE):
            prefetch(entry, 2 * t)
        prefetch(inner, slots[slot, 1])
    for m in range(n):
        slot = ahead[m, 0]
        for t in range(slots[slot, 2], slots[slot + 1, 2]):
            head, at = entry[t, 0], np.int64(entry[t, 1])
            prefetch(only, head >> 8)
            if run_length(head) == SPILLED:
                prefetch(spill_off, at)
            else:
                _fetch_run(xy, at, run_length(head))
        for t in range(slots[slot, 1], slots[slot, 1] + slots[slot, 3]):
            prefetch(only, inner[t])
    for m in range(n):
        slot = ahead[m, 0]
        for t in range(slots[slot, 2], slots[slot + 1, 2]):
            if run_length(entry[t, 0]) == SPILLED:
                prefetch(trie.spill, 2 * spill_off[np.int64(entry[t, 1])])
    for m in range(n):
        slot = ahead[m, 0]
        for t in range(slots[slot, 2], slots[slot + 1, 2]):
            if run_length(entry[t, 0]) == SPILLED:
                at = np.int64(entry[t, 1])
                for r in range(spill_off[at], spill_off[at + 1]):
                    _fetch_run(xy, trie.spill[r, 0], trie.spill[r, 1])


@njit(cache=True, inline="always", _nrt=False)
def _fetch_run(xy: NDArray[np.float64], first: int, length: int) -> None:
    for v in range(first, first + length, _VERTICES_A_LINE):
        prefetch(xy, 2 * v)
    prefetch(xy, 2 * (first + length))


@njit(cache=True, _nrt=False)
def _descend(
    trie: Trie, xs: NDArray[np.float64], ys: NDArray[np.float64], order: NDArray[np.int32],
    k: int, n: int, ahead: NDArray[np.int64],
) -> int:  # fmt: skip
    """Set ahead[m, 1] to the leaf of each of the n points from the k-th on.

    ahead[:, 0] has those that differ from the one before; returns their number.
    """
    slots = trie.slot
    scale = (1 << DEEPEST) / SPAN
    shift = DEEPEST - ROOT_LEVEL
    for m in range(n):
        i = order[k + m]
        ix, iy = int((xs[i] - ORIGIN) * scale), int((ys[i] - ORIGIN) * scale)
        slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
        prefetch(slots, 4 * slot)
        ahead[m, 0], ahead[m, 1], ahead[m, 2] = slot, ix, iy
    going = True
    while going:
        going = False
        shift -= FAN_BITS
        for m in range(n):
            child = slots[ahead[m, 0], 0]
            if child >= 0:
                ix, iy = ahead[m, 1], ahead[m, 2]
                slot = child + (
                    (((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1))
                )
                prefetch(slots, 4 * slot)
                ahead[m, 0] = slot
                going = True
    leaves = 1
    for m in range(n):
        ahead[m, 1] = ahead[m, 0]
    for m in range(1, n):
        if ahead[m, 0] != ahead[leaves - 1, 0]:
            ahead[leaves, 0] = ahead[m, 0]
            leaves += 1
    return leaves


class Progress(NamedTuple):
    """How far a batch of points is, and what the next point goes on with.

    counts: points done, values used, doubts. path: of the last leaf and the cells around it the
    slot, and start and length of its list. leaf: the last leaf, and how many places in it are
    known. memo: of these the pattern, and start and length of its list. places: of a point in the
    entries of its leaf. ahead: the leaves of the next points, as `_descend` leaves them.
    """

    counts: NDArray[np.int64]
    path: NDArray[np.int64]
    leaf: NDArray[np.int64]
    memo: NDArray[np.int64]
    places: NDArray[np.uint8]
    ahead: NDArray[np.int64]


def new_progress() -> Progress:
    """Return the state before the first point."""
    return Progress(
        np.zeros(3, np.int64),
        np.full((_LEVELS, 3), -1, np.int64),
        np.array([-1, 0]),
        np.empty((8, 3), np.int64),
        np.empty(64, np.uint8),
        np.empty((_AHEAD, 3), np.int64),
    )


def match_points(
    trie: Trie,
    shapes: Shapes,
    labels: Labels,
    sort: bool,
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    lists: Lists,
    values: NDArray[np.int32],
) -> tuple[NDArray[np.int32], int, NDArray[np.int32]]:
    """List the labels that each point matches.

    lists.start and lists.length are set; points may share a list. Returns the values (the given
    array, or a larger one), their number, and the points and geometries (as rows of two) that GEOS
    must decide.
    """
    order = curve_order(xs, ys)
    progress, doubts = new_progress(), np.empty((64, 2), np.int32)
    batch = trie, shapes, labels, sort, xs, ys, order
    while lacking := _go_on(*batch, lists, values, doubts, progress):
        _, used, doubtful = progress.counts.tolist()
        if lacking == _VALUES:
            values = _twice(values, used)
        elif lacking == _DOUBTS:
            doubts = _twice(doubts, doubtful)
        else:
            progress = progress._replace(places=np.empty(2 * len(progress.places), np.uint8))
    _, used, doubtful = progress.counts.tolist()
    return values, used, doubts[:doubtful]


def _twice(array: NDArray[np.int32], used: int) -> NDArray[np.int32]:
    larger = np.empty((max(64, 2 * len(array)), *array.shape[1:]), np.int32)
    larger[:used] = array[:used]
    return larger


@njit(cache=True, nogil=True, _nrt=False)
def _go_on(
    trie: Trie, shapes: Shapes, labels: Labels, sort: bool,
    xs: NDArray[np.float64], ys: NDArray[np.float64], order: NDArray[np.int32], lists: Lists,
    values: NDArray[np.int32], doubts: NDArray[np.int32], progress: Progress,
) -> int:  # fmt: skip
    """Match points until all are done; else tell what has no room for the next one."""
    slots, inner, entry, xy = trie.slot, trie.inner, trie.entry, shapes.xy
    path, memo, places, ahead = progress.path, progress.memo, progress.places, progress.ahead
    done, used, doubtful = progress.counts[0], progress.counts[1], progress.counts[2]
    last, known = progress.leaf[0], progress.leaf[1]
    scale = (1 << DEEPEST) / SPAN
    for k in range(done, len(order)):
        progress.counts[0], progress.counts[1], progress.counts[2] = k, used, doubtful
        progress.leaf[0], progress.leaf[1] = last, known
        if k % _AHEAD == 0:
            _fetch_ahead(trie, labels.only, xy, xs, ys, order, k, ahead)
        i = order[k]
        x, y = xs[i], ys[i]
        ix, iy = int((x - ORIGIN) * scale), int((y - ORIGIN) * scale)
        at = k % _AHEAD
        leaf, again = ahead[at, 1], False
        if at + 1 < _AHEAD and k + 1 < len(order):
            again = ahead[at + 1, 1] == leaf
        start = length = 0
        level, shift = 0, DEEPEST - ROOT_LEVEL
        slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
        while slot != leaf or again or path[level, 0] == slot:
            if path[level, 0] != slot:
                if slots[slot, 3] > 0:
                    end = _list_cover(
                        inner, slots[slot, 1], slots[slot, 3], labels, values, used + length
                    )
                    if end == _NO_ROOM:
                        return _VALUES
                    _join_lists(values, start, length, used, end, sort)
                    start, length, used = used, end - used, end
                    progress.counts[1] = used  # the list stays, also if a further one has no room
                path[level, 0], path[level, 1], path[level, 2] = slot, start, length
            else:
                start, length = path[level, 1], path[level, 2]
            if slot == leaf:
                break
            level += 1
            shift -= FAN_BITS
            slot = slots[slot, 0] + (
                (((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1))
            )
        listed = path[level, 0] == leaf  # else nobody else needs the list of what covers it
        pattern = 0
        e0, e1 = slots[leaf, 2], slots[leaf + 1, 2]
        if e1 > e0:
            h = SPAN / (1 << (DEEPEST - shift))
            rx = ORIGIN + ((ix >> shift) + REFERENCE_X) * h
            ry = ORIGIN + ((iy >> shift) + REFERENCE_Y) * h
            if e1 - e0 > len(places):
                return _PLACES
            if doubtful + e1 - e0 > len(doubts):
                return _DOUBTS
            for t in range(e0, e1):
                head = entry[t, 0]
                if is_one_run(head):
                    run = np.int64(entry[t, 1])
                    place = cross_run(xy, run, run_length(head), head & 3, rx, ry, x, y)
                else:
                    place = place_in_entry(trie, shapes, t, rx, ry, x, y)
                if place == UNKNOWN:
                    doubts[doubtful, 0], doubts[doubtful, 1] = i, head >> 8
                    doubtful += 1
                    place = OUTSIDE
                places[t - e0] = place
                pattern = (pattern << 2) | place
            if e1 - e0 > _MOST_PLACES:
                pattern = _LONG
        if leaf != last:
            last, known = leaf, 0
        found = 0
        while found < known and memo[found, 0] != pattern:
            found += 1
        if found < known:
            start, length = memo[found, 1], memo[found, 2]
        elif pattern != 0 or (not listed and slots[leaf, 3] > 0):
            end = used + length
            if not listed:
                end = _list_cover(inner, slots[leaf, 1], slots[leaf, 3], labels, values, end)
            if end != _NO_ROOM and pattern != 0:
                end = _list_entries(entry, e0, e1, places, labels, values, end)
            if end == _NO_ROOM or end > len(values):
                return _VALUES
            _join_lists(values, start, length, used, end, sort)
            start, length, used = used, end - used, end
            if known < len(memo) and pattern != _LONG:
                memo[known, 0], memo[known, 1], memo[known, 2] = pattern, start, length
                known += 1
        lists.start[i] = start
        lists.length[i] = length
    progress.counts[0], progress.counts[1], progress.counts[2] = len(order), used, doubtful
    return _DONE
