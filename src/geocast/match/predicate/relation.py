"""Relations between two geometries as sets of predicates.

A relation is a 16-bit mask: bit k says that predicate number k holds. One table serves all pairs
of types, and emitting matches is one bit test. Publication first, as everywhere.
"""

from __future__ import annotations

from typing import Final

from geocast.model import Predicate

__all__ = [
    "CONTAINS",
    "COVERS_RIM",
    "CROSSES",
    "DISJOINT",
    "DOUBT",
    "EQUAL",
    "INTERSECTS_ONLY",
    "NOTHING",
    "ON_RIM",
    "OVERLAPS",
    "PENDING",
    "TOUCHES",
    "WITHIN",
    "bit",
]


def bit(*predicates: Predicate) -> int:
    """Return the mask of these predicates."""
    mask = 0
    for predicate in predicates:
        mask |= 1 << predicate
    return mask


_P = Predicate

NOTHING: Final = 0
"""None of the predicates that were asked for holds; says nothing about the others."""

DISJOINT: Final = bit(_P.DISJOINT)
TOUCHES: Final = bit(_P.TOUCHES, _P.INTERSECTS)
CROSSES: Final = bit(_P.CROSSES, _P.INTERSECTS)
OVERLAPS: Final = bit(_P.OVERLAPS, _P.INTERSECTS)
WITHIN: Final = bit(_P.WITHIN, _P.COVEREDBY, _P.INTERSECTS)
CONTAINS: Final = bit(_P.CONTAINS, _P.COVERS, _P.INTERSECTS)
EQUAL: Final = bit(_P.EQUALS, _P.WITHIN, _P.CONTAINS, _P.COVERS, _P.COVEREDBY, _P.INTERSECTS)

ON_RIM: Final = bit(_P.TOUCHES, _P.COVEREDBY, _P.INTERSECTS)
"""The publication lies wholly on the boundary of the subscription's geometry."""

COVERS_RIM: Final = bit(_P.TOUCHES, _P.COVERS, _P.INTERSECTS)
"""The subscription's geometry lies wholly on the boundary of the publication."""

INTERSECTS_ONLY: Final = bit(_P.INTERSECTS)
"""They intersect, and nothing else was asked for."""

DOUBT: Final = 1 << 15
"""The kernels cannot prove the relation: GEOS decides."""

PENDING: Final = 1 << 14
"""Not decided yet."""
