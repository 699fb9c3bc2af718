"""GEOS as referee: decides what the kernels leave in doubt, and refines plain candidates.

Pairs are grouped by predicate, so each is one call for many pairs. The publication comes first,
as everywhere: GEOS is not always symmetric where rings touch or crossings are rounded. Only
points, where that cannot happen, are asked about the other way round, because then the geometry
that stands, and is prepared once, is the one that GEOS searches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, to_geos
from geocast.model import Predicate

__all__ = ["Referee"]

_FUNCTIONS: dict[Predicate, Callable[..., Any]] = {
    Predicate.EQUALS: shapely.equals,
    Predicate.TOUCHES: shapely.touches,
    Predicate.CROSSES: shapely.crosses,
    Predicate.WITHIN: shapely.within,
    Predicate.OVERLAPS: shapely.overlaps,
    Predicate.CONTAINS: shapely.contains,
    Predicate.INTERSECTS: shapely.intersects,
    Predicate.COVERS: shapely.covers,
    Predicate.COVEREDBY: shapely.covered_by,
    Predicate.DISJOINT: shapely.disjoint,
}


class Referee:
    """Decides predicates between publications and a set of subscription geometries."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._geos = np.full(len(shapes.dim), None, dtype=object)

    def holds(
        self,
        publications: NDArray[np.object_],
        q: NDArray[np.integer[Any]],
        g: NDArray[np.integer[Any]],
        predicate: NDArray[np.integer[Any]],
    ) -> NDArray[np.bool_]:
        """Return for each (q[i], g[i]) whether predicate[i] holds, publication first."""
        out = np.zeros(len(q), np.bool_)
        self._make(np.unique(g))
        points = shapely.get_type_id(publications) == 0
        shapely.prepare(publications[~points])
        order = np.lexsort((q, g, predicate))
        q, g, kinds = q[order], g[order], predicate[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(q) != 0) | (np.diff(g) != 0) | (np.diff(kinds) != 0)
        decided = np.zeros(int(new.sum()), np.bool_)
        dq, dg, dk = q[new], g[new], kinds[new]
        for kind in np.unique(dk):
            asked = Predicate(int(kind))
            for is_point in (False, True):
                own = np.flatnonzero((dk == kind) & (points[dq] == is_point))
                pub, sub = publications[dq[own]], self._geos[dg[own]]
                if is_point:
                    decided[own] = _FUNCTIONS[asked.converse](sub, pub)
                else:
                    decided[own] = _FUNCTIONS[asked](pub, sub)
        out[order] = decided[np.cumsum(new) - 1]
        return out

    def _make(self, ids: NDArray[np.integer[Any]]) -> None:
        missing = ids[[geometry is None for geometry in self._geos[ids]]]
        if len(missing):
            made = to_geos(self._shapes, missing)
            shapely.prepare(made)
            self._geos[missing] = made
