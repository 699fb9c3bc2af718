"""Hypothesis strategies: valid geometries on coarse grids, and subscriptions over them.

The strategies shrink to few small integers. For bulk comparison use the seeded makers of
`tests.lattice`, which are re-exported here: they give hundreds of geometries in the time of one
hypothesis example.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from hypothesis import strategies as st

from tests.lattice import (
    FRAMES,
    KINDS,
    border_points,
    lattice_geometries,
    nudged,
    points_of,
    rewritten,
    with_midpoints,
)

__all__ = [
    "FRAMES",
    "KINDS",
    "border_points",
    "geometries",
    "geometry_sets",
    "lattice_geometries",
    "nudged",
    "points_of",
    "rewritten",
    "with_midpoints",
]

SPAN = 4

_halves = st.integers(0, 2 * SPAN).map(lambda k: k / 2)
_spots = st.tuples(st.integers(0, SPAN), st.integers(0, SPAN))
_lines = st.lists(_spots, min_size=2, max_size=5).map(shapely.LineString)
_boxes = st.tuples(_spots, st.integers(1, 3), st.integers(1, 3)).map(
    lambda b: shapely.box(b[0][0], b[0][1], b[0][0] + b[1], b[0][1] + b[2])
)
_triangles = st.lists(_spots, min_size=3, max_size=3, unique=True).map(shapely.Polygon)
_unions = st.sets(_spots, min_size=1, max_size=8).map(
    lambda cells: shapely.union_all([shapely.box(x, y, x + 1, y + 1) for x, y in cells])
)
_pierced = st.tuples(_boxes, _triangles).map(lambda pair: shapely.difference(*pair))

_BY_KIND: dict[str, st.SearchStrategy[Any]] = {
    "point": st.tuples(_halves, _halves).map(shapely.Point),
    "multipoint": st.lists(_spots, min_size=1, max_size=4).map(shapely.MultiPoint),
    "line": _lines,
    "multiline": st.lists(_lines, min_size=1, max_size=3).map(shapely.MultiLineString),
    "polygon": st.one_of(_boxes, _triangles, _unions, _pierced).filter(
        lambda g: g.geom_type == "Polygon"
    ),
    "multipolygon": st.one_of(
        _unions.filter(lambda g: g.geom_type == "MultiPolygon"),
        st.lists(st.one_of(_boxes, _triangles), min_size=1, max_size=2).map(shapely.MultiPolygon),
    ),
}


def geometries(
    kinds: Sequence[str] = KINDS,
    step: float = 1.0,
    offset: tuple[float, float] = (0.0, 0.0),
) -> st.SearchStrategy[Any]:
    """One valid, non-empty geometry of the kinds, on a grid of five by five steps."""

    def placed(geometry: Any) -> Any:
        return shapely.transform(geometry, lambda xy: xy * step + np.array(offset))

    return st.one_of([_BY_KIND[kind] for kind in kinds]).map(placed).filter(_usable)


def geometry_sets(most: int = 6) -> st.SearchStrategy[tuple[list[Any], list[Any]]]:
    """Two lists of geometries on the same grid: publications and areas."""

    def sides(frame: tuple[float, tuple[float, float]]) -> st.SearchStrategy[Any]:
        one = geometries(step=frame[0], offset=frame[1])
        many = st.lists(one, min_size=1, max_size=most)
        return st.tuples(many, many)

    return st.sampled_from(FRAMES).flatmap(sides)


def _usable(geometry: Any) -> bool:
    return bool(geometry.is_valid and not geometry.is_empty)
