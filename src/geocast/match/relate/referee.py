"""GEOS as referee: decides what the kernels leave in doubt, and refines plain candidates.

Pairs are grouped by predicate and sorted by the subscription's geometry, which is prepared once
and kept; publications are only parsed where they are needed.
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

_CONVERSE: dict[Predicate, Callable[..., Any]] = {
    Predicate.EQUALS: shapely.equals,
    Predicate.TOUCHES: shapely.touches,
    Predicate.CROSSES: shapely.crosses,
    Predicate.WITHIN: shapely.contains,
    Predicate.OVERLAPS: shapely.overlaps,
    Predicate.CONTAINS: shapely.within,
    Predicate.INTERSECTS: shapely.intersects,
    Predicate.COVERS: shapely.covered_by,
    Predicate.COVEREDBY: shapely.covers,
    Predicate.DISJOINT: shapely.disjoint,
}
"""The GEOS function to call with the subscription's geometry first: GEOS prepares that side."""


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
        self._prepare(np.unique(g))
        order = np.lexsort((q, g, predicate))
        q, g, kinds = q[order], g[order], predicate[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(q) != 0) | (np.diff(g) != 0) | (np.diff(kinds) != 0)
        decided = np.zeros(int(new.sum()), np.bool_)
        dq, dg, dk = q[new], g[new], kinds[new]
        for kind in np.unique(dk):
            own = dk == kind
            function = _CONVERSE[Predicate(int(kind))]
            decided[own] = function(self._geos[dg[own]], publications[dq[own]])
        out[order] = decided[np.cumsum(new) - 1]
        return out

    def _prepare(self, ids: NDArray[np.integer[Any]]) -> None:
        missing = ids[[geometry is None for geometry in self._geos[ids]]]
        if len(missing):
            made = to_geos(self._shapes, missing)
            shapely.prepare(made)
            self._geos[missing] = made
