"""What types and bounding boxes alone rule out, with the proofs.

Notation: P the publication, S the subscription's geometry, box(.) the minimum bounding box; both
geometries are closed sets, neither is empty.

Types (DE-9IM, dimensions dp and ds):
- equals needs dp = ds; within and coveredby need dp <= ds; contains and covers need dp >= ds: a
  set of dimension d is no subset of a set of smaller dimension.
- overlaps is defined for dp = ds only; crosses for dp != ds, and for two lines.
- touches asks that a boundary takes part and points have none, so never for two (multi)points.
- intersects and disjoint are always possible.

Boxes:
- P within or coveredby S: P is a subset of S, hence box(P) is a subset of box(S), since the box of
  a subset is a subset of the box.
- P contains or covers S: the same with the roles exchanged.
- P equals S: both of the above, so box(P) = box(S).
- touches, crosses, overlaps, intersects: P and S share a point, which lies in both boxes, so the
  boxes meet. The index has seen to that: its candidates are those whose boxes meet.
- disjoint: boxes that do not meet prove it; boxes that meet prove nothing. It is matched as the
  complement of intersects, and never asked here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, frozen
from geocast.match.predicate.relation import bit
from geocast.model import Predicate

__all__ = ["POSSIBLE_BY_DIMENSION", "apply_rules"]

_P = Predicate
_WITHIN: Final = bit(_P.WITHIN, _P.COVEREDBY)
_CONTAINS: Final = bit(_P.CONTAINS, _P.COVERS)
_EQUALS: Final = bit(_P.EQUALS)
_MEET: Final = bit(_P.TOUCHES, _P.CROSSES, _P.OVERLAPS, _P.INTERSECTS)


def _possible(dp: int, ds: int) -> int:
    mask = bit(_P.INTERSECTS, _P.DISJOINT)
    if dp == ds:
        mask |= bit(_P.EQUALS, _P.OVERLAPS)
    if dp <= ds:
        mask |= _WITHIN
    if dp >= ds:
        mask |= _CONTAINS
    if dp != ds or dp == 1:
        mask |= bit(_P.CROSSES)
    if dp + ds > 0:
        mask |= bit(_P.TOUCHES)
    return mask


POSSIBLE_BY_DIMENSION: Final = frozen(
    np.array([[_possible(dp, ds) for ds in range(3)] for dp in range(3)], np.uint16)
)
"""The predicates possible for publication dimension (row) and subscription dimension (column)."""


@njit(cache=True, nogil=True)
def apply_rules(
    pub: Shapes, sub: Shapes, need: NDArray[np.uint16], possible: NDArray[np.uint16],
    offsets: NDArray[np.int64], items: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:  # fmt: skip
    """Keep the candidates on which a predicate stands that types and boxes leave possible.

    Returns offsets, candidates, and for each the mask of those predicates.
    """
    kept_off = np.zeros(len(offsets), np.int64)
    kept, asked = np.empty(len(items), np.int32), np.empty(len(items), np.uint16)
    n = 0
    for q in range(len(offsets) - 1):
        p = pub.bounds[q]
        for k in range(offsets[q], offsets[q + 1]):
            g = items[k]
            s = sub.bounds[g]
            inside = p[0] >= s[0] and p[1] >= s[1] and p[2] <= s[2] and p[3] <= s[3]
            around = p[0] <= s[0] and p[1] <= s[1] and p[2] >= s[2] and p[3] >= s[3]
            can = _MEET
            if inside:
                can |= _WITHIN
            if around:
                can |= _CONTAINS
                if inside:
                    can |= _EQUALS
            asked[n] = need[g] & can & possible[pub.dim[q], sub.dim[g]]
            if asked[n]:
                kept[n] = g
                n += 1
        kept_off[q + 1] = n
    return kept_off, kept[:n], asked[:n]
