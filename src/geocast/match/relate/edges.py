"""Two areas whose edges are compared right away: they cross, or nothing of them touches.

Most pairs that pictures and samples leave open are like that: areas in general position. The edges
of a candidate that come near the rim of the publication's picture are compared with the
publication's edges in the same strips. The first proper crossing proves that the areas overlap.
Where no two edges touch, every ring of one lies wholly inside or outside the other, and one vertex
of each tells which. With that all is known: the interiors meet if a ring lies inside the other
geometry, the publication leaves the candidate if a ring of the candidate lies inside it, or one of
its own outside the candidate, and the other way round.

As soon as anything else is seen (a shared vertex, a vertex in an edge) the walk has to decide.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.blocks import BLOCK
from geocast.match.geometry.exact import APART, CROSSING, UNCLEAR, UNSURE, segments_meet
from geocast.match.geometry.rays import in_ring
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import INSIDE, OUTSIDE, UNKNOWN
from geocast.match.predicate.relation import CONTAINS, DISJOINT, OVERLAPS, PENDING, WITHIN
from geocast.match.relate.raster import box_place, in_rim, pixel_of
from geocast.match.relate.strips import place_in_publication, strips_between
from geocast.match.relate.work import Work

__all__ = ["decide_by_edges"]

_PATIENCE: Final = 2
_PRICE: Final = 2
"""How many pairs have to be decided for each one that is compared in vain."""


@njit(cache=True, forceinline=True, _nrt=False)
def decide_by_edges(
    pub: Shapes, q: int, sub: Shapes, sub_care: NDArray[np.uint8], blocks: NDArray[np.float64],
    items: NDArray[np.int32], lo: int, hi: int, work: Work, relation: NDArray[np.uint16],
) -> int:  # fmt: skip
    """Decide the areas among the open candidates lo:hi of area q whose edges cross or stay apart.

    Geometries that want care are left alone, and so is all that follows where most do something
    else: they share borders. Returns how many candidates stay open.
    """
    still_open = 0
    balance = _PATIENCE
    for k in range(lo, hi):
        if relation[k] != PENDING:
            continue
        g = items[k]
        if balance > 0 and sub.dim[g] == 2 and sub_care[g] == 0:
            meeting = _first_meeting(pub, q, sub, g, blocks, work)
            if meeting == CROSSING:
                relation[k] = OVERLAPS
            elif meeting == APART:
                relation[k] = _by_rings(pub, q, sub, g, blocks, work)
            balance += 1 if relation[k] != PENDING else -_PRICE
        still_open += relation[k] == PENDING
    return still_open


@njit(cache=True, forceinline=True, _nrt=False)
def _first_meeting(
    pub: Shapes, q: int, sub: Shapes, g: int, blocks: NDArray[np.float64], work: Work
) -> int:
    """Say how the first edges of q and g that meet do so; APART if none do."""
    xy, box, frame, rim = sub.xy, pub.bounds[q], work.frame, work.rim
    first, last = path_range(sub, g)
    for path in range(first, last):
        a, b = sub.path_off[path], sub.path_off[path + 1] - 1
        for block in range(a // BLOCK, (b - 1) // BLOCK + 1):
            x0, y0, x1, y1 = blocks[block, 0], blocks[block, 1], blocks[block, 2], blocks[block, 3]
            if (x1 < box[0]) | (x0 > box[2]) | (y1 < box[1]) | (y0 > box[3]):
                continue
            if box_place(frame, rim, work.inside, x0, y0, x1, y1) != UNKNOWN:
                continue
            start = max(a, block * BLOCK)
            column, row = pixel_of(frame, xy[start, 0], xy[start, 1])
            for s in range(start, min(b, (block + 1) * BLOCK)):
                c, r = pixel_of(frame, xy[s + 1, 0], xy[s + 1, 1])
                if in_rim(rim, column, row, c, r):
                    how = _meeting_of_edge(pub, q, xy, s, work)
                    if how != APART:
                        return how
                column, row = c, r
    return APART


@njit(cache=True, forceinline=True, _nrt=False)
def _meeting_of_edge(pub: Shapes, q: int, c: NDArray[np.float64], s: int, work: Work) -> int:
    """Say how the first edge of q that meets edge s does so; APART if none does."""
    p, box = pub.xy, pub.bounds[q]
    cx, cy, dx, dy = c[s, 0], c[s, 1], c[s + 1, 0], c[s + 1, 1]
    x0, x1, y0, y1 = min(cx, dx), max(cx, dx), min(cy, dy), max(cy, dy)
    if (x1 < box[0]) | (x0 > box[2]) | (y1 < box[1]) | (y0 > box[3]):
        return APART
    lo, hi = strips_between(pub, q, max(y0, box[1]), min(y1, box[3]), work)
    if hi < 0:
        return UNCLEAR
    for k in range(lo, hi):
        v = work.strip_edge[k]
        ax, ay, bx, by = p[v, 0], p[v, 1], p[v + 1, 0], p[v + 1, 1]
        beside = (max(ax, bx) < x0) | (min(ax, bx) > x1)
        if beside | (max(ay, by) < y0) | (min(ay, by) > y1):
            continue
        how = segments_meet(ax, ay, bx, by, cx, cy, dx, dy, False)
        if how != APART:
            return how
    return APART


@njit(cache=True, forceinline=True, _nrt=False)
def _by_rings(
    pub: Shapes, q: int, sub: Shapes, g: int, blocks: NDArray[np.float64], work: Work
) -> int:
    """Decide a pair of which no edges touch; PENDING where a vertex cannot be located."""
    meet = leaves = exceeds = False
    first, last = path_range(sub, g)
    for path in range(first, last):
        v = sub.path_off[path]
        place = place_in_publication(pub, q, sub.xy[v, 0], sub.xy[v, 1], work)
        if place != INSIDE and place != OUTSIDE:
            return PENDING
        # Beside a ring of g there is inside of g, and outside.
        meet, leaves = meet or place == INSIDE, leaves or place == INSIDE
        exceeds = exceeds or place == OUTSIDE
    own_first, own_last = path_range(pub, q)
    for path in range(own_first, own_last):
        if meet and leaves and exceeds:
            break
        v = pub.path_off[path]
        place = _place_in_area(sub, g, blocks, pub.xy[v, 0], pub.xy[v, 1])
        if place == UNKNOWN:
            return PENDING
        meet, exceeds = meet or place == INSIDE, exceeds or place == INSIDE
        leaves = leaves or place == OUTSIDE
    if not meet:
        return DISJOINT
    if leaves:
        return OVERLAPS if exceeds else CONTAINS
    return WITHIN


@njit(cache=True, forceinline=True, _nrt=False)
def _place_in_area(sub: Shapes, g: int, blocks: NDArray[np.float64], x: float, y: float) -> int:
    """Return INSIDE or OUTSIDE for a point that is on no edge of area g; UNKNOWN if unproved."""
    crossings = 0
    if sub.bounds[g, 0] <= x <= sub.bounds[g, 2] and sub.bounds[g, 1] <= y <= sub.bounds[g, 3]:
        first, last = path_range(sub, g)
        for path in range(first, last):
            a, b = sub.path_off[path], sub.path_off[path + 1] - 1
            place = in_ring(sub.xy, blocks, a, b, x, y)
            if place == UNSURE:
                return UNKNOWN
            crossings += place
    return INSIDE if crossings & 1 else OUTSIDE
