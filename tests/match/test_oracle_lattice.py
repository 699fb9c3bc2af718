from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings

from tests.match.comparison import INDEX_NAMES, assert_all_predicates, assert_one_predicate_each
from tests.oracle import pairs_by_predicate
from tests.oracle.spatial import Geometries, Pairs
from tests.strategies import (
    FRAMES,
    KINDS,
    geometry_sets,
    lattice_geometries,
    nudged,
    points_of,
    rewritten,
    with_midpoints,
)

Scene = tuple[Geometries, Geometries, dict[str, Pairs]]


def seeds(count: int) -> list[Any]:
    """One half of them always, the other where long comparisons are asked for."""
    half = count // 2
    return [*range(half), *(pytest.param(k, marks=pytest.mark.full) for k in range(half, count))]


@cache
def mixed_scene(frame: int) -> Scene:
    """All kinds on one small grid, some copied, rewritten or moved by an ulp."""
    step, offset = FRAMES[frame]
    rng = np.random.default_rng(1_000 + frame)
    areas = lattice_geometries(rng, 180, step, offset, span=5 + frame % 3)
    copies = areas[rng.integers(0, len(areas), 60)]
    publications = np.concatenate(
        [
            lattice_geometries(rng, 120, step, offset, span=5 + frame % 3),
            copies[:20],
            rewritten(rng, copies[20:40]),
            nudged(rng, copies[40:]),
            points_of(rng, areas, 60),
        ]
    )
    return publications, areas, pairs_by_predicate(publications, areas)


@cache
def kind_scene(first: str, second: str) -> Scene:
    rng = np.random.default_rng([KINDS.index(first), KINDS.index(second)])
    step, offset = FRAMES[(KINDS.index(first) * 3 + KINDS.index(second)) % len(FRAMES)]
    publications = lattice_geometries(rng, 70, step, offset, kinds=(first,), span=5)
    areas = lattice_geometries(rng, 70, step, offset, kinds=(second,), span=5)
    return publications, areas, pairs_by_predicate(publications, areas)


@pytest.mark.parametrize("index", INDEX_NAMES)
@pytest.mark.parametrize("frame", range(len(FRAMES)))
def test_all_kinds_on_one_grid(frame: int, index: str) -> None:
    assert_all_predicates(*mixed_scene(frame), index)


@pytest.mark.parametrize("index", INDEX_NAMES)
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_every_pair_of_kinds(first: str, second: str, index: str) -> None:
    assert_all_predicates(*kind_scene(first, second), index)


@pytest.mark.parametrize("index", INDEX_NAMES)
@given(geometry_sets())
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_small_sets_of_any_geometries(index: str, sides: tuple[list[object], list[object]]) -> None:
    publications, areas = (np.array(side, dtype=object) for side in sides)
    assert_all_predicates(publications, areas, pairs_by_predicate(publications, areas), index)


@pytest.mark.parametrize("seed", seeds(20))
def test_many_grids(seed: int) -> None:
    rng = np.random.default_rng(50_000 + seed)
    step = float(rng.choice([1 / 64, 0.01, 0.001, 0.37, 1e-5, 1 / 7]))
    offset = (float(rng.uniform(-170, 170)), float(rng.uniform(-80, 80)))
    span = int(rng.integers(3, 12))
    areas = lattice_geometries(rng, 200, step, offset, span=span)
    publications = np.concatenate(
        [
            lattice_geometries(rng, 200, step, offset, span=span),
            nudged(rng, areas[:40]),
            rewritten(rng, areas[:40]),
        ]
    )
    assert_all_predicates(publications, areas, pairs_by_predicate(publications, areas), "cells")


@pytest.mark.parametrize("seed", seeds(20))
def test_one_predicate_each(seed: int) -> None:
    rng = np.random.default_rng(70_000 + seed)
    step, offset = FRAMES[seed % len(FRAMES)]
    areas = lattice_geometries(rng, 200, step, offset, span=4 + seed % 5)
    publications = lattice_geometries(rng, 120, step, offset, span=4 + seed % 5)
    expected = pairs_by_predicate(publications, areas)
    assert_one_predicate_each(publications, areas, expected, seed)


@pytest.mark.parametrize("seed", seeds(16))
def test_publications_of_many_vertices(seed: int) -> None:
    """With enough edges a publication is drawn; midpoints of dyadic edges lie on them exactly."""
    rng = np.random.default_rng(80_000 + seed)
    step, offset = [(1 / 64, (0.0, 0.0)), (0.5, (-128.0, 32.0))][seed % 2]
    span = 4 + seed % 5
    areas = lattice_geometries(rng, 160, step, offset, span=span)
    extended = ("line", "multiline", "polygon", "multipolygon")
    drawn = lattice_geometries(rng, 90, step, offset, kinds=extended, span=span)
    publications = with_midpoints(np.concatenate([drawn, areas[:30]]), 4)
    areas = np.concatenate([areas, with_midpoints(areas[20:60], 2)])
    expected = pairs_by_predicate(publications, areas)
    assert_all_predicates(publications, areas, expected, "cells")
    assert_one_predicate_each(publications, areas, expected, seed)


def test_areas_around_and_in_holes() -> None:
    """Rings far from each other, one in another: what they enclose decides, not where they run."""
    radii = (0.5, 1.0, 2.0, 3.0, 4.5)
    discs = [shapely.buffer(shapely.Point(7.0, -3.0), r, quad_segs=30) for r in radii]
    rings = [
        shapely.difference(outer, inner)
        for k, inner in enumerate(discs)
        for outer in discs[k + 1 :]
    ]
    apart = [shapely.transform(disc, lambda xy: xy + np.array([20.0, 0.0])) for disc in discs[:2]]
    parts = [shapely.union(ring, disc) for ring in rings for disc in (discs[0], *apart)]
    usable = [g for g in (*discs, *rings, *parts) if g.geom_type in ("Polygon", "MultiPolygon")]
    areas = np.array([*usable, *(shapely.boundary(g) for g in usable)], dtype=object)
    expected = pairs_by_predicate(areas, areas)
    assert_all_predicates(areas, areas, expected, "cells")
    for seed in range(5):
        assert_one_predicate_each(areas, areas, expected, seed)


def rugged(rng: np.random.Generator, vertices: int) -> Any:
    """An area with holes, islands and a rough rim, somewhere in a small square."""
    angle = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    ray = np.column_stack([np.cos(angle), np.sin(angle)])
    rim = ray * rng.uniform(0.7, 1.0, (vertices, 1)) * rng.uniform(0.3, 2.0)
    area = shapely.Polygon(rim)
    size = np.sqrt(area.area)
    holes = [shapely.Point(rng.uniform(-0.4, 0.4, 2) * size).buffer(0.15 * size) for _ in range(2)]
    islands = [shapely.Point(rng.uniform(-1, 1, 2) * size).buffer(0.1 * size) for _ in range(2)]
    for hole in holes[: rng.integers(0, 3)]:
        area = area.difference(hole)
    for island in islands[: rng.integers(0, 3)]:
        area = area.union(island)
    return shapely.transform(area, lambda xy: xy + rng.uniform(-1.5, 1.5, 2) + (3.0, 50.0))


@pytest.mark.parametrize("seed", seeds(4))
def test_rugged_areas_with_holes_and_islands_in_general_position(seed: int) -> None:
    """Most of these pairs cross, or touch nowhere: their edges are compared before any walk."""
    rng = np.random.default_rng(90_000 + seed)
    areas = np.array([rugged(rng, int(rng.integers(20, 90))) for _ in range(60)], dtype=object)
    usable = areas[np.isin(shapely.get_type_id(areas), (3, 6)) & shapely.is_valid(areas)]
    assert len(usable) > 50
    expected = pairs_by_predicate(usable, usable)
    assert_all_predicates(usable, usable, expected, "cells")
    assert_one_predicate_each(usable, usable, expected, seed)
