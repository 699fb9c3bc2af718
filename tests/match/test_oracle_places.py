from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from geocast.match.index.frame import (
    DEEPEST,
    ORIGIN,
    REFERENCE_X,
    REFERENCE_Y,
    ROOT_LEVEL,
    SPAN,
)
from tests.match.comparison import INDEX_NAMES, assert_all_predicates
from tests.oracle import pairs_by_predicate
from tests.oracle.spatial import Geometries, Pairs
from tests.strategies import border_points, lattice_geometries, points_of

Floats = NDArray[np.float64]
Scene = tuple[Geometries, Geometries, dict[str, Pairs]]

EDGES_OF_THE_WORLD = [
    "POLYGON ((-180 -90, 180 -90, 180 90, -180 90, -180 -90))",
    "POLYGON ((-180 60, 180 60, 180 90, -180 90, -180 60))",
    "POLYGON ((-180 -90, 180 -90, 180 -60, 0 -75, -180 -60, -180 -90))",
    "POLYGON ((170 -10, 180 -10, 180 10, 170 10, 170 -10))",
    "POLYGON ((-180 -10, -170 -10, -170 10, -180 10, -180 -10))",
    "MULTIPOLYGON (((170 20, 180 20, 180 30, 170 20)), ((-180 20, -170 20, -180 30, -180 20)))",
    "POLYGON ((-180 -90, 180 -90, 180 90, -180 90, -180 -90), (0 0, 0 10, 10 10, 10 0, 0 0))",
    "POLYGON ((0 89.99999, 1 89.99999, 0.5 90, 0 89.99999))",
    "LINESTRING (180 -90, 180 90)",
    "LINESTRING (-180 -90, -180 90)",
    "LINESTRING (-180 90, 180 90)",
    "LINESTRING (-180 -90, 180 90)",
    "LINESTRING (0 -90, 0 90)",
    "MULTILINESTRING ((-180 0, 0 0), (0 0, 180 0))",
    "POINT (180 90)",
    "POINT (-180 -90)",
    "POINT (0 90)",
    "POINT (180 0)",
    "MULTIPOINT ((180 0), (-180 0))",
    "MULTIPOINT ((0 0), (0 90), (180 90))",
]


def cell_boxes(rng: np.random.Generator, n: int) -> Geometries:
    """Boxes whose sides lie on borders of cells of side 2/2^k."""
    side = 2.0 / 2.0 ** rng.integers(0, 8, n)
    low = np.floor(rng.uniform((-179, -89), (170, 80), (n, 2)) / side[:, None]) * side[:, None]
    high = np.minimum(low + side[:, None] * rng.integers(1, 9, (n, 2)), (180, 90))
    return np.asarray(shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))


@cache
def scene() -> Scene:
    rng = np.random.default_rng(7)
    edges = np.asarray(shapely.from_wkt(EDGES_OF_THE_WORLD))
    boxes = cell_boxes(rng, 150)
    outlines = shapely.get_exterior_ring(boxes[:30])
    lines = shapely.linestrings(shapely.get_coordinates(outlines).reshape(-1, 5, 2))
    small = lattice_geometries(rng, 60, 2.0 / 2**10, (-0.001953125 * 3, 0.0), span=6)
    areas = np.concatenate([edges, boxes, lines, small])
    publications = np.concatenate(
        [
            edges,
            boxes[:20],
            lines[:10],
            border_points(rng, 300),
            points_of(rng, areas, 300),
            np.asarray(shapely.points(shapely.get_coordinates(edges))),
        ]
    )
    return publications, areas, pairs_by_predicate(publications, areas)


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_points_on_vertices_edges_cell_borders_and_the_edges_of_the_world(index: str) -> None:
    assert_all_predicates(*scene(), index)


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_points_a_double_beside_cell_borders(index: str) -> None:
    rng = np.random.default_rng(8)
    areas = cell_boxes(rng, 80)
    xy = shapely.get_coordinates(points_of(rng, areas, 400))
    beside = np.nextafter(xy, rng.choice([-np.inf, np.inf], xy.shape))
    publications = np.asarray(shapely.points(np.clip(beside, (-180, -90), (180, 90))))
    expected = pairs_by_predicate(publications, areas)
    assert_all_predicates(publications, areas, expected, index)


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_tiny_geometries_far_inside_one_cell(index: str) -> None:
    rng = np.random.default_rng(9)
    areas = lattice_geometries(rng, 80, 1e-10, (0.1, 0.1), span=4)
    publications = lattice_geometries(rng, 80, 1e-10, (0.1, 0.1), span=4)
    expected = pairs_by_predicate(publications, areas)
    assert_all_predicates(publications, areas, expected, index)


def reference_spots(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Reference points of cells of all levels near one place, and the sides of those cells."""
    level = rng.integers(ROOT_LEVEL, DEEPEST + 1, n)
    cell: Floats = SPAN / 2.0 ** level.astype(np.float64)
    corner = np.floor((rng.uniform(7.0, 7.01, (n, 2)) - ORIGIN) / cell[:, None])
    inside = np.array([REFERENCE_X, REFERENCE_Y])
    spots: Floats = ORIGIN + (corner + inside) * cell[:, None]
    return spots, cell


def through(rng: np.random.Generator, spots: Floats, size: Floats) -> Geometries:
    """Triangles, boxes and lines with these spots on a vertex or an edge."""
    x, y, s = spots[:, 0], spots[:, 1], size
    corners = [(x, y), (x + s, y + s / 3), (x - s / 3, y + s)]
    triangles = shapely.polygons(np.stack([np.column_stack(c) for c in corners], axis=1))
    boxes = shapely.box(x - s, y, x + s, y + s)
    upright = shapely.box(x, y - s, x + s, y + s)
    lines = shapely.linestrings(
        np.stack([np.column_stack((x - s, y)), spots, np.column_stack((x, y + s))], axis=1)
    )
    made = np.concatenate([triangles, boxes, upright, lines, shapely.points(spots)])
    return made[rng.permutation(len(made))[:150]]


@pytest.mark.parametrize("seed", range(4))
def test_edges_and_vertices_on_the_reference_points_of_cells(seed: int) -> None:
    rng = np.random.default_rng([10, seed])
    spots, cell = reference_spots(rng, 60)
    areas = through(rng, spots, cell * rng.choice([0.01, 0.3, 1, 20], len(cell)))
    publications = through(rng, spots, cell * rng.choice([0.01, 0.3, 1, 20], len(cell)))
    expected = pairs_by_predicate(publications, areas)
    assert_all_predicates(publications, areas, expected, "cells")
