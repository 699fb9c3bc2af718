"""Multipoints against the cell index: each point is located, the counts give the relation."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, path_range
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
from geocast.match.index.trie import INSIDE, ON, OUTSIDE, UNKNOWN, Trie, entry_geometry
from geocast.match.predicate.relation import (
    CONTAINS,
    CROSSES,
    DISJOINT,
    DOUBT,
    EQUAL,
    ON_RIM,
    OVERLAPS,
    TOUCHES,
    WITHIN,
)
from geocast.match.relate.lists import room
from geocast.match.relate.place import place_in_entry

__all__ = ["distinct_points", "relate_multipoints"]

_FEW: Final = 24  # points that are compared with each other sooner than sorted
_PLACES: Final = 4  # OUTSIDE, INSIDE, UNKNOWN, ON
_LEVELS: Final = (DEEPEST - ROOT_LEVEL) // FAN_BITS + 1


@njit(cache=True)
def distinct_points(xy: NDArray[np.float64], a: int, b: int) -> NDArray[np.int64]:
    """Return the numbers of the vertices a:b that are not equal to an earlier one."""
    kept = np.empty(b - a, np.int64)
    n = 0
    if b - a <= _FEW:
        for v in range(a, b):
            j = 0
            while j < n and (xy[kept[j], 0] != xy[v, 0] or xy[kept[j], 1] != xy[v, 1]):
                j += 1
            if j == n:
                kept[n] = v
                n += 1
        return kept[:n]
    order = np.argsort(xy[a:b, 0])
    for k in range(b - a):
        v = a + order[k]
        repeated = False
        j = n - 1
        while j >= 0 and xy[kept[j], 0] == xy[v, 0]:
            if xy[kept[j], 1] == xy[v, 1]:
                repeated = True
                break
            j -= 1
        if not repeated:
            kept[n] = v
            n += 1
    return kept[:n]


@njit(cache=True, inline="always")
def _hit(
    g: int, place: int, points: int, seen: NDArray[np.int32], touched: NDArray[np.int32], n: int
) -> int:
    """Note that so many points lie at this place of g, and g itself if it is the first time."""
    if seen[g, INSIDE] == 0 and seen[g, ON] == 0 and seen[g, UNKNOWN] == 0:
        touched[n] = g
        n += 1
    seen[g, place] += points
    return n


@njit(cache=True, inline="always")
def _cell(v: float) -> int:
    """Return the column or row of the deepest level in which a coordinate lies."""
    return int((v - ORIGIN) * ((1 << DEEPEST) / SPAN))


@njit(cache=True)
def _descend(slots: NDArray[np.int32], ix: int, iy: int, path: NDArray[np.int64]) -> int:
    """List the slots on the way to the leaf of a deepest-level cell; returns how many."""
    shift = DEEPEST - ROOT_LEVEL
    path[0] = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
    depth = 0
    while slots[path[depth], 0] >= 0:
        shift -= FAN_BITS
        cell = (((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1))
        path[depth + 1] = slots[path[depth], 0] + cell
        depth += 1
    return depth + 1


@njit(cache=True)
def _locate(
    trie: Trie, sub: Shapes, xy: NDArray[np.float64], points: NDArray[np.int64],
    path: NDArray[np.int64], seen: NDArray[np.int32], touched: NDArray[np.int32],
) -> int:  # fmt: skip
    """Count where the points lie in each geometry that one of them meets; returns how many.

    Points that follow each other in one leaf go down to it together: corners are neighbours.
    """
    slots, inner = trie.slot, trie.inner
    n = k = 0
    while k < len(points):
        ix, iy = _cell(xy[points[k], 0]), _cell(xy[points[k], 1])
        depth = _descend(slots, ix, iy, path)
        shift = DEEPEST - ROOT_LEVEL - FAN_BITS * (depth - 1)
        column, row = ix >> shift, iy >> shift
        end = k + 1
        while end < len(points) and (
            _cell(xy[points[end], 0]) >> shift == column
            and _cell(xy[points[end], 1]) >> shift == row
        ):
            end += 1
        for level in range(depth):
            start = slots[path[level], 1]
            for at in range(start, start + slots[path[level], 3]):
                n = _hit(inner[at], INSIDE, end - k, seen, touched, n)
        leaf = path[depth - 1]
        h = SPAN / (1 << (DEEPEST - shift))
        rx, ry = ORIGIN + (column + REFERENCE_X) * h, ORIGIN + (row + REFERENCE_Y) * h
        for t in range(slots[leaf, 2], slots[leaf + 1, 2]):
            for v in points[k:end]:
                place = place_in_entry(trie, sub, t, rx, ry, xy[v, 0], xy[v, 1])
                if place != OUTSIDE:
                    n = _hit(entry_geometry(trie, t), place, 1, seen, touched, n)
        k = end
    return n


@njit(cache=True, inline="always")
def _relation(sub: Shapes, g: int, points: int, inside: int, on: int) -> int:
    """By where the distinct points lie; of points among points, by how many are the same."""
    if sub.dim[g] == 0:
        first, last = path_range(sub, g)
        own = len(distinct_points(sub.xy, sub.path_off[first], sub.path_off[last]))
        if inside == points:
            return EQUAL if inside == own else WITHIN
        return CONTAINS if inside == own else OVERLAPS
    outside = inside + on < points
    if inside > 0:
        return CROSSES if outside else WITHIN
    if on > 0:
        return TOUCHES if outside else ON_RIM
    return DISJOINT


@njit(cache=True, nogil=True)
def relate_multipoints(
    trie: Trie, sub: Shapes, pub: Shapes, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
    """Return offsets, geometries and relations for the (multi)points of these rows of pub.

    Only geometries that a point of the publication meets, or may meet, are listed.
    """
    seen = np.zeros((len(sub.dim), _PLACES), np.int32)
    touched = np.empty(len(sub.dim), np.int32)
    path = np.empty(_LEVELS, np.int64)
    offsets = np.zeros(len(rows) + 1, np.int64)
    items, relations, used = np.empty(1024, np.int32), np.empty(1024, np.uint16), 0
    for q in range(len(rows)):
        first, last = path_range(pub, rows[q])
        points = distinct_points(pub.xy, pub.path_off[first], pub.path_off[last])
        n = _locate(trie, sub, pub.xy, points, path, seen, touched)
        items = room(items, used, n)
        if used + n > len(relations):
            larger = np.empty(len(items), np.uint16)
            larger[:used] = relations[:used]
            relations = larger
        for k in range(n):
            g = touched[k]
            items[used] = g
            relations[used] = (
                DOUBT
                if seen[g, UNKNOWN]
                else _relation(sub, g, len(points), seen[g, INSIDE], seen[g, ON])
            )
            seen[g, :] = 0
            used += 1
        offsets[q + 1] = used
    return offsets, items[:used], relations[:used]
