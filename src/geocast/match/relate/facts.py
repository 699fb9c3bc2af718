"""What is known of a pair before its edges are compared, and what that decides.

Facts about a publication P and a geometry S, each proved by boxes or single vertices:

- MEET: the interiors meet. A vertex of P inside the area S proves it, as P's interior comes
  arbitrarily near that vertex. So does a vertex of S inside the area P.
- LEAVES: P's interior leaves S. A vertex of P outside S proves it, and so does a vertex of the
  area S inside the area P, as S has an outside next to it; lower dimensions never hold P.
- EXCEEDS: S's interior leaves P; the same with the roles exchanged.

- CLEAR: no edge of S comes near an edge of P. Then no edge of S is both inside and outside P.

The first three together are overlap (two areas) or crossing (an area and a line or points). MEET
makes intersects true, touches false; LEAVES makes within, coveredby and equals false; EXCEEDS makes
contains, covers and equals false. With CLEAR, S lies inside P if a vertex does and none is
outside, but for an area S around a hole of P: P must be solid. S lies apart from P if none of its
vertices is inside, unless P, in one piece, lies inside S.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.blocks import BLOCK
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import INSIDE, OUTSIDE, UNKNOWN
from geocast.match.predicate.relation import (
    CONTAINS,
    CROSSES,
    DISJOINT,
    INTERSECTS_ONLY,
    NOTHING,
    OVERLAPS,
    PENDING,
    WITHIN,
    bit,
)
from geocast.match.relate.raster import box_place, point_place
from geocast.model import Predicate

__all__ = [
    "EXCEEDS",
    "FALSE_BY_LEAVES",
    "MEET",
    "decide_by_picture",
    "decide_by_samples",
    "is_one_piece",
    "is_solid",
]

MEET: Final = 1
LEAVES: Final = 2
EXCEEDS: Final = 4
CLEAR: Final = 8
_ALL_THREE: Final = MEET | LEAVES | EXCEEDS

_P = Predicate
_SETTLED_BY_MEET: Final = bit(_P.INTERSECTS, _P.TOUCHES, _P.DISJOINT)
FALSE_BY_LEAVES: Final = bit(_P.WITHIN, _P.COVEREDBY, _P.EQUALS)
_FALSE_BY_EXCEEDS: Final = bit(_P.CONTAINS, _P.COVERS, _P.EQUALS)

_STRIDE: Final = 4
"""Of how many vertices near the publication's edges one is looked up in its picture."""


@njit(cache=True, inline="always")
def _decided(asked: int, facts: int, dp: int, ds: int, solid: bool) -> int:
    """Return the relation that the facts prove, right for what is asked, or PENDING."""
    if facts & _ALL_THREE == _ALL_THREE:
        return OVERLAPS if dp == ds else CROSSES
    if facts & CLEAR:
        if facts & MEET and not facts & EXCEEDS and (solid or ds < 2):
            return CONTAINS
        if ds < 2 and not facts & MEET:
            return DISJOINT
    open_ = asked
    if facts & MEET:
        open_ &= ~_SETTLED_BY_MEET
    if facts & LEAVES:
        open_ &= ~FALSE_BY_LEAVES
    if facts & EXCEEDS:
        open_ &= ~_FALSE_BY_EXCEEDS
    if open_ != 0:
        return PENDING
    return INTERSECTS_ONLY if facts & MEET else NOTHING


@njit(cache=True, inline="always")
def _by_boxes(p: NDArray[np.float64], s: NDArray[np.float64], g: int, dp: int, ds: int) -> int:
    facts = 0
    if dp > ds or p[0] < s[g, 0] or p[1] < s[g, 1] or p[2] > s[g, 2] or p[3] > s[g, 3]:
        facts |= LEAVES
    if ds > dp or s[g, 0] < p[0] or s[g, 1] < p[1] or s[g, 2] > p[2] or s[g, 3] > p[3]:
        facts |= EXCEEDS
    return facts


@njit(cache=True)
def _by_vertices(
    xy: NDArray[np.float64], v0: int, v1: int, blocks: NDArray[np.float64],
    box: NDArray[np.float64], frame: NDArray[np.float64], rim: NDArray[np.uint64],
    inside: NDArray[np.uint64], asked: int, known: int, dp: int, ds: int, solid: bool,
) -> int:  # fmt: skip
    """Add the facts that vertices v0:v1 of a candidate tell, until they decide what is asked."""
    clear = True
    for block in range(v0 // BLOCK, (v1 - 1) // BLOCK + 1):
        x0, y0, x1, y1 = blocks[block, 0], blocks[block, 1], blocks[block, 2], blocks[block, 3]
        if (x1 < box[0]) | (x0 > box[2]) | (y1 < box[1]) | (y0 > box[3]):
            known |= EXCEEDS
            continue
        before = known
        place = box_place(frame, rim, inside, x0, y0, x1, y1)
        if place == INSIDE:
            known |= MEET | LEAVES
        elif place == OUTSIDE:
            known |= EXCEEDS
        else:
            clear = False
            for v in range(max(v0, block * BLOCK), min(v1, (block + 1) * BLOCK), _STRIDE):
                place = point_place(frame, rim, inside, xy[v, 0], xy[v, 1])
                if place == INSIDE:
                    known |= MEET | LEAVES
                elif place == OUTSIDE:
                    known |= EXCEEDS
        if known != before and _decided(asked, known, dp, ds, solid) != PENDING:
            return known
    return known | CLEAR if clear else known


@njit(cache=True)
def decide_by_picture(
    sub: Shapes, blocks: NDArray[np.float64], dp: int, solid: bool, box: NDArray[np.float64],
    items: NDArray[np.int32], lo: int, hi: int, asked: NDArray[np.uint16],
    drawn: bool, frame: NDArray[np.float64], rim: NDArray[np.uint64], inside: NDArray[np.uint64],
    facts: NDArray[np.uint8], relation: NDArray[np.uint16],
) -> int:  # fmt: skip
    """Decide candidates lo:hi of a publication by boxes, and by its picture if that is drawn.

    Returns how many stay open. `facts` receives what is known of each, counted from lo.
    """
    xy, path_off, bounds, dims = sub.xy, sub.path_off, sub.bounds, sub.dim
    still_open = 0
    for k in range(lo, hi):
        g = items[k]
        ds = dims[g]
        if drawn:
            place = box_place(
                frame, rim, inside, bounds[g, 0], bounds[g, 1], bounds[g, 2], bounds[g, 3]
            )
            if place != UNKNOWN:
                relation[k] = CONTAINS if place == INSIDE else DISJOINT
                continue
        known = _by_boxes(box, bounds, g, dp, ds)
        found = _decided(asked[k], known, dp, ds, solid)
        if found == PENDING and drawn:
            first, last = path_range(sub, g)
            known = _by_vertices(
                xy, path_off[first], path_off[last], blocks, box, frame, rim, inside, asked[k],
                known, dp, ds, solid,
            )  # fmt: skip
            found = _decided(asked[k], known, dp, ds, solid)
        facts[k - lo] = known
        relation[k] = found
        still_open += found == PENDING
    return still_open


@njit(cache=True, inline="always")
def is_solid(pub: Shapes, q: int) -> bool:
    """Has publication q no holes?"""
    first, last = path_range(pub, q)
    return last - first == pub.geom_off[q + 1] - pub.geom_off[q]


@njit(cache=True, inline="always")
def is_one_piece(pub: Shapes, q: int) -> bool:
    """Is publication q connected: one polygon, or one path?"""
    first, last = path_range(pub, q)
    return last - first == 1 if pub.dim[q] == 1 else pub.geom_off[q + 1] - pub.geom_off[q] == 1


@njit(cache=True)
def decide_by_samples(
    dims: NDArray[np.int8], dp: int, solid: bool, one_piece: bool,
    items: NDArray[np.int32], lo: int, hi: int, asked: NDArray[np.uint16],
    samples: int, covered: NDArray[np.int32],
    shared: NDArray[np.int32], facts: NDArray[np.uint8], relation: NDArray[np.uint16],
) -> int:  # fmt: skip
    """Decide by which leaves of the publication's sampled vertices a candidate covers or shares.

    Resets the counts. Returns how many candidates stay open.
    """
    still_open = 0
    for k in range(lo, hi):
        if relation[k] != PENDING:
            continue
        u, ds = k - lo, dims[items[k]]
        known = facts[u]
        apart_or_within = one_piece and ds == 2 and known & (CLEAR | MEET) == CLEAR
        inside, outside = covered[u] > 0, covered[u] + shared[u] < samples
        covered[u] = 0
        shared[u] = 0
        if apart_or_within and (inside or outside):
            relation[k] = WITHIN if inside else DISJOINT
            continue
        if inside:
            known |= MEET | EXCEEDS
        if outside:
            known |= LEAVES
        facts[u] = known
        relation[k] = _decided(asked[k], known, dp, ds, solid)
        still_open += relation[k] == PENDING
    return still_open
