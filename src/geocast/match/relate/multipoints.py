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
from geocast.match.index.trie import INSIDE, ON, UNKNOWN, Trie, entry_geometry
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
    g: int, place: int, touched: NDArray[np.int32], n: int,
    inside: NDArray[np.int32], on: NDArray[np.int32], unknown: NDArray[np.bool_],
) -> int:  # fmt: skip
    if inside[g] == 0 and on[g] == 0 and not unknown[g]:
        touched[n] = g
        n += 1
    if place == INSIDE:
        inside[g] += 1
    elif place == ON:
        on[g] += 1
    elif place == UNKNOWN:
        unknown[g] = True
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
    geometries = len(sub.dim)
    inside, on = np.zeros(geometries, np.int32), np.zeros(geometries, np.int32)
    unknown = np.zeros(geometries, np.bool_)
    touched = np.empty(geometries, np.int32)
    offsets = np.zeros(len(rows) + 1, np.int64)
    items, relations, used = np.empty(1024, np.int32), np.empty(1024, np.uint16), 0
    scale = (1 << DEEPEST) / SPAN
    for q in range(len(rows)):
        first, last = path_range(pub, rows[q])
        points = distinct_points(pub.xy, pub.path_off[first], pub.path_off[last])
        n = 0
        for v in points:
            x, y = pub.xy[v, 0], pub.xy[v, 1]
            ix, iy = int((x - ORIGIN) * scale), int((y - ORIGIN) * scale)
            shift = DEEPEST - ROOT_LEVEL
            slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
            while True:
                start = trie.slot[slot, 1]
                for k in range(start, start + trie.slot[slot, 3]):
                    n = _hit(trie.inner[k], INSIDE, touched, n, inside, on, unknown)
                child = trie.slot[slot, 0]
                if child < 0:
                    break
                shift -= FAN_BITS
                cell = (((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1))
                slot = child + cell
            h = SPAN / (1 << (DEEPEST - shift))
            rx = ORIGIN + ((ix >> shift) + REFERENCE_X) * h
            ry = ORIGIN + ((iy >> shift) + REFERENCE_Y) * h
            for t in range(trie.slot[slot, 2], trie.slot[slot + 1, 2]):
                place = place_in_entry(trie, sub, t, rx, ry, x, y)
                if place != 0:
                    n = _hit(entry_geometry(trie, t), place, touched, n, inside, on, unknown)
        items = room(items, used, n)
        if used + n > len(relations):
            larger = np.empty(len(items), np.uint16)
            larger[:used] = relations[:used]
            relations = larger
        for k in range(n):
            g = touched[k]
            items[used] = g
            relations[used] = (
                DOUBT if unknown[g] else _relation(sub, g, len(points), inside[g], on[g])
            )
            inside[g] = on[g] = 0
            unknown[g] = False
            used += 1
        offsets[q + 1] = used
    return offsets, items[:used], relations[:used]
