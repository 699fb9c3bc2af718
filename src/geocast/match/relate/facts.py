"""What is known of a pair before its edges are compared, and what that decides.

Three facts about a publication P and a geometry S, each proved by a box or a single vertex:

- MEET: the interiors meet. A vertex of P inside the area S proves it, as P's interior comes
  arbitrarily near that vertex. So does a vertex of S inside the area P.
- LEAVES: P's interior leaves S. A vertex of P outside S proves it, and so does a vertex of the
  area S inside the area P, as S has an outside next to it; lower dimensions never hold P.
- EXCEEDS: S's interior leaves P; the same with the roles exchanged.

All three together are overlap (two areas) or crossing (an area and a line or points). MEET makes
intersects true, touches false; LEAVES makes within, coveredby and equals false; EXCEEDS makes
contains, covers and equals false.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import INSIDE, OUTSIDE
from geocast.match.predicate.relation import (
    CONTAINS,
    CROSSES,
    DISJOINT,
    INTERSECTS_ONLY,
    NOTHING,
    OVERLAPS,
    PENDING,
    bit,
)
from geocast.match.relate.raster import box_place, point_place
from geocast.model import Predicate

__all__ = ["EXCEEDS", "LEAVES", "MEET", "decide_by_picture", "decide_by_samples"]

MEET: Final = 1
LEAVES: Final = 2
EXCEEDS: Final = 4
_ALL_THREE: Final = MEET | LEAVES | EXCEEDS

_P = Predicate
_SETTLED_BY_MEET: Final = bit(_P.INTERSECTS, _P.TOUCHES, _P.DISJOINT)
_FALSE_BY_LEAVES: Final = bit(_P.WITHIN, _P.COVEREDBY, _P.EQUALS)
_FALSE_BY_EXCEEDS: Final = bit(_P.CONTAINS, _P.COVERS, _P.EQUALS)

_VERTICES: Final = 8
"""Vertices of a candidate looked up in the picture of the publication, at most."""


@njit(cache=True, inline="always")
def _decided(asked: int, facts: int, dp: int, ds: int) -> int:
    """Return the relation that the facts prove, right for what is asked, or PENDING."""
    if facts == _ALL_THREE:
        return OVERLAPS if dp == ds else CROSSES
    open_ = asked
    if facts & MEET:
        open_ &= ~_SETTLED_BY_MEET
    if facts & LEAVES:
        open_ &= ~_FALSE_BY_LEAVES
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
def decide_by_picture(
    sub: Shapes, dp: int, box: NDArray[np.float64], items: NDArray[np.int32], lo: int, hi: int,
    asked: NDArray[np.uint16], frame: NDArray[np.float64], rim: NDArray[np.uint64],
    inside: NDArray[np.uint64], facts: NDArray[np.uint8], relation: NDArray[np.uint16],
) -> int:  # fmt: skip
    """Decide candidates lo:hi of a publication by its picture; returns how many stay open.

    `facts` receives what is known of each, counted from lo.
    """
    xy, path_off, bounds, dims = sub.xy, sub.path_off, sub.bounds, sub.dim
    still_open = 0
    for k in range(lo, hi):
        g = items[k]
        ds = dims[g]
        place = box_place(
            frame, rim, inside, bounds[g, 0], bounds[g, 1], bounds[g, 2], bounds[g, 3]
        )
        if place == OUTSIDE:
            relation[k] = DISJOINT
            continue
        if place == INSIDE:
            relation[k] = CONTAINS
            continue
        known = _by_boxes(box, bounds, g, dp, ds)
        found = _decided(asked[k], known, dp, ds)
        if found == PENDING and dp == 2:
            first, last = path_range(sub, g)
            v0, v1 = path_off[first], path_off[last]
            for v in range(v0, v1, (v1 - v0 + _VERTICES - 1) // _VERTICES):
                place = point_place(frame, rim, inside, xy[v, 0], xy[v, 1])
                if place == INSIDE:
                    known |= MEET | LEAVES
                elif place == OUTSIDE:
                    known |= EXCEEDS
                else:
                    continue
                found = _decided(asked[k], known, dp, ds)
                if found != PENDING:
                    break
        facts[k - lo] = known
        relation[k] = found
        still_open += found == PENDING
    return still_open


@njit(cache=True)
def decide_by_samples(
    dims: NDArray[np.int8], dp: int, items: NDArray[np.int32], lo: int, hi: int,
    asked: NDArray[np.uint16], samples: int, covered: NDArray[np.int32],
    shared: NDArray[np.int32], facts: NDArray[np.uint8], relation: NDArray[np.uint16],
) -> int:  # fmt: skip
    """Decide by which leaves of the publication's sampled vertices a candidate covers or shares.

    Resets the counts. Returns how many candidates stay open.
    """
    still_open = 0
    for k in range(lo, hi):
        if relation[k] != PENDING:
            continue
        u = k - lo
        known = facts[u]
        if covered[u] > 0:
            known |= MEET | EXCEEDS
        if covered[u] + shared[u] < samples:
            known |= LEAVES
        covered[u] = 0
        shared[u] = 0
        facts[u] = known
        relation[k] = _decided(asked[k], known, dp, dims[items[k]])
        still_open += relation[k] == PENDING
    return still_open
