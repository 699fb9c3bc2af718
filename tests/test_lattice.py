from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings

from tests.oracle import PREDICATES, pairs_by_predicate
from tests.oracle.spatial import Geometries
from tests.strategies import (
    FRAMES,
    KINDS,
    border_points,
    geometry_sets,
    lattice_geometries,
    nudged,
    points_of,
    rewritten,
)

TYPE_IDS = dict(zip(KINDS, (0, 4, 1, 5, 3, 6), strict=True))


def assert_usable(geometries: Geometries) -> None:
    assert len(geometries)
    assert shapely.is_valid(geometries).all()
    assert not shapely.is_empty(geometries).any()
    west, south, east, north = shapely.total_bounds(geometries)
    assert west >= -180
    assert south >= -90
    assert east <= 180
    assert north <= 90


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_of_its_type(kind: str) -> None:
    drawn = lattice_geometries(np.random.default_rng(1), 100, kinds=(kind,))
    assert len(drawn) == 100
    assert_usable(drawn)
    assert set(shapely.get_type_id(drawn)) == {TYPE_IDS[kind]}


@pytest.mark.parametrize("frame", FRAMES)
def test_every_relation_abounds(frame: tuple[float, tuple[float, float]]) -> None:
    rng = np.random.default_rng(2)
    first, second = (lattice_geometries(rng, 150, *frame) for _ in range(2))
    assert_usable(first)
    found = pairs_by_predicate(first, second)
    fewest = {name: 5 if name == "equals" else 400 for name in PREDICATES}
    assert {name: len(pairs[0]) >= fewest[name] for name, pairs in found.items()} == dict.fromkeys(
        PREDICATES, True
    )


def test_difficult_polygons_are_among_them() -> None:
    drawn = lattice_geometries(np.random.default_rng(3), 400, kinds=("polygon", "multipolygon"))
    holes = [p for g in drawn for p in shapely.get_parts(g) if shapely.get_num_interior_rings(p)]
    assert len(holes) > 50
    assert any(
        shapely.touches(shapely.get_exterior_ring(p), shapely.get_interior_ring(p, 0))
        or shapely.intersects(shapely.get_exterior_ring(p), shapely.get_interior_ring(p, 0))
        for p in holes
    )
    parts = [shapely.get_parts(g) for g in drawn if shapely.get_num_geometries(g) > 1]
    assert sum(bool(shapely.touches(p[0], p[1])) for p in parts) > 10


def test_the_same_seed_gives_the_same() -> None:
    first, second = (lattice_geometries(np.random.default_rng(4), 50) for _ in range(2))
    assert shapely.to_wkb(first).tolist() == shapely.to_wkb(second).tolist()


def test_variants_are_usable() -> None:
    rng = np.random.default_rng(5)
    drawn = lattice_geometries(rng, 200, 0.37, (-2.5, 0.0))
    assert_usable(nudged(rng, drawn))
    assert_usable(points_of(rng, drawn, 100))
    assert_usable(border_points(rng, 200))
    copies = rewritten(rng, drawn)
    assert_usable(copies)
    assert len(copies) > 190


@given(geometry_sets())
@settings(max_examples=50, deadline=None, derandomize=True)
def test_strategies_draw_usable_geometries(sides: tuple[list[object], list[object]]) -> None:
    for side in sides:
        assert_usable(np.array(side, dtype=object))
