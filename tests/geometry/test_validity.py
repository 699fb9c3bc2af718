"""What is proved to be valid is valid, and what is plainly valid is proved without GEOS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from numpy.typing import NDArray

from geocast.match.geometry.decode import decode_distinct
from geocast.match.geometry.validity import surely_valid
from tests.strategies import lattice_geometries, with_midpoints

Geometries = NDArray[np.object_]


def star(rng: np.random.Generator, vertices: int, at: tuple[float, float], size: float) -> Any:
    """A ring around a place that never crosses itself, with edges in all directions."""
    angle = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    radius = size * rng.uniform(0.5, 1.0, vertices)
    xy = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None] + np.array(at)
    return shapely.Polygon(xy)


def crossed(rng: np.random.Generator, polygon: Any) -> Any:
    """The same polygon with one vertex moved to where another is, or across the whole of it."""
    xy = shapely.get_coordinates(polygon)[:-1]
    moved, other = rng.choice(len(xy), 2, replace=False)
    xy[moved] = xy[other] if rng.random() < 0.3 else 2 * xy.mean(axis=0) - xy[moved]
    return shapely.Polygon(xy)


def proved(geometries: Geometries) -> NDArray[np.bool_]:
    column = pa.array(shapely.to_wkb(geometries), pa.binary())
    shapes = decode_distinct(column).shapes
    return surely_valid(shapes, np.zeros(len(geometries), np.uint8))


def usable(geometries: Geometries) -> NDArray[np.bool_]:
    column = pa.array(shapely.to_wkb(geometries), pa.binary())
    found: NDArray[np.bool_] = decode_distinct(column).number >= 0
    return found


@pytest.mark.parametrize("vertices", [3, 5, 17, 33, 34, 100, 257, 1_000])
def test_stars_are_proved_and_crossed_ones_found(vertices: int) -> None:
    rng = np.random.default_rng(vertices)
    stars = np.array([star(rng, vertices, (3.0, 50.0), 2.0) for _ in range(40)], dtype=object)
    assert shapely.is_valid(stars).all()
    assert proved(stars).all()
    broken = np.array([crossed(rng, one) for one in stars], dtype=object)
    assert not shapely.is_valid(broken).all() or vertices == 3
    assert (usable(broken) == shapely.is_valid(broken)).all()


def test_random_rings_are_judged_as_geos_judges_them() -> None:
    rng = np.random.default_rng(1)
    rings = []
    for _ in range(3_000):
        count = int(rng.integers(3, 40))
        xy = rng.integers(0, int(rng.choice([4, 8, 80])), (count, 2)).astype(float)
        if rng.random() < 0.7:  # around its middle: often valid
            xy = xy[np.argsort(np.arctan2(*(xy - xy.mean(axis=0)).T))]
        rings.append(shapely.Polygon(xy))
    geometries = np.array(rings, dtype=object)
    valid = shapely.is_valid(geometries)
    assert 300 < valid.sum() < 2_700
    assert (usable(geometries) == valid).all()


def test_holes_islands_and_parts_are_proved() -> None:
    outer = shapely.box(0, 0, 100, 100)
    holes = [shapely.box(x, y, x + 6, y + 6) for x in range(2, 90, 10) for y in range(2, 90, 10)]
    islands = [shapely.box(x + 1, y + 1, x + 5, y + 5) for x, y, *_ in (h.bounds for h in holes)]
    holed = shapely.difference(outer, shapely.union_all(np.array(holes)))
    whole = shapely.union(holed, shapely.union_all(np.array(islands)))
    geometries = np.array([holed, whole, shapely.union_all(np.array(islands))], dtype=object)
    assert shapely.is_valid(geometries).all()
    assert proved(geometries).all()
    # A hole on top of another, and one beyond the shell.
    both = shapely.Polygon(outer.exterior, [holes[0].exterior, holes[0].buffer(-1).exterior])
    beyond = shapely.Polygon(holes[0].exterior, [holes[1].exterior])
    assert not proved(np.array([both, beyond], dtype=object)).any()
    assert not usable(np.array([both, beyond], dtype=object)).any()


def test_edges_with_vertices_on_them_on_a_grid() -> None:
    rng = np.random.default_rng(2)
    drawn = lattice_geometries(rng, 400, 1.0, kinds=("polygon", "multipolygon"), span=9)
    dense = with_midpoints(drawn, 4)
    assert usable(dense).all()
    assert proved(dense).mean() > 0.5
    folded = np.array([folded_ring(rng, g) for g in dense], dtype=object)
    valid = shapely.is_valid(folded)
    assert 10 < valid.sum() < 390
    assert (usable(folded) == valid).all()


def folded_ring(rng: np.random.Generator, geometry: Any) -> Any:
    """The first ring with two of its vertices, not far from each other, exchanged."""
    xy = shapely.get_coordinates(shapely.get_exterior_ring(shapely.get_geometry(geometry, 0)))[:-1]
    first = int(rng.integers(0, len(xy) - 2))
    second = first + int(rng.integers(1, 3)) * int(rng.random() < 0.7)
    xy[[first, second]] = xy[[second, first]]
    return shapely.Polygon(xy)


def test_a_comb_has_too_many_blocks_that_meet_and_is_left_to_geos() -> None:
    teeth = [(k * 1e-3, float(k % 2)) for k in range(4_001)]
    comb = shapely.Polygon([*teeth, (4.0, -1.0), (0.0, -1.0)])
    slanted = shapely.transform(comb, lambda xy: xy @ np.array([[1.0, 0.1], [1.0, 1.0]]))
    assert slanted.is_valid
    assert not proved(np.array([slanted], dtype=object)).any()
    assert usable(np.array([comb, slanted], dtype=object)).all()
