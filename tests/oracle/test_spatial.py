from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import shapely

from tests.lattice import lattice_geometries
from tests.oracle import CONVERSE, PREDICATES, exact, holds, pairs_by_predicate, relation_names
from tests.oracle.bulk import mixed_pairs, relation_pairs
from tests.oracle.spatial import Pairs

MASKS = {**exact.MASKS, "disjoint": ("FF*FF****",)}
SAMPLES = [
    shapely.from_wkt(text)
    for text in (
        "POINT (1 1)",
        "POINT (0 0)",
        "MULTIPOINT ((0 0), (1 1), (3 3))",
        "LINESTRING (0 0, 2 2)",
        "LINESTRING (0 2, 2 0)",
        "LINESTRING (0 0, 2 0, 2 2, 0 2, 0 0)",
        "MULTILINESTRING ((0 0, 1 1), (1 1, 2 2))",
        "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))",
        "POLYGON ((1 0, 3 0, 3 2, 1 2, 1 0))",
        "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))",
        "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((1 1, 2 1, 2 2, 1 2, 1 1)))",
    )
]


def matches(matrix: str, mask: str) -> bool:
    return all(
        wanted == "*" or (wanted == "T" and cell != "F") or wanted == cell
        for cell, wanted in zip(matrix, mask, strict=True)
    )


@pytest.mark.parametrize("name", MASKS)
def test_plain_predicates_are_the_matrices_of_the_standard(name: str) -> None:
    for a, b in product(SAMPLES, SAMPLES):
        both_points = shapely.get_dimensions(a) == shapely.get_dimensions(b) == 0
        expected = any(matches(shapely.relate(a, b), mask) for mask in MASKS[name])
        expected = expected and not (name == "touches" and both_points)
        assert holds(name, a, b) is expected, (name, a.wkt, b.wkt)


def test_crosses_and_overlaps_depend_on_dimensions() -> None:
    for a, b in product(SAMPLES, SAMPLES):
        matrix = shapely.relate(a, b)
        first, second = int(shapely.get_dimensions(a)), int(shapely.get_dimensions(b))
        crosses = {
            -1: matches(matrix, "T*T******"),
            1: matches(matrix, "T*****T**"),
            0: first == 1 and matches(matrix, "0********"),
        }[(first > second) - (first < second)]
        mask = "1*T***T**" if first == 1 else "T*T***T**"
        assert holds("crosses", a, b) is crosses, (a.wkt, b.wkt)
        assert holds("overlaps", a, b) is (first == second and matches(matrix, mask))


def test_the_converse_swaps_the_sides() -> None:
    for a, b in product(SAMPLES, SAMPLES):
        assert {CONVERSE[name] for name in relation_names(a, b)} == relation_names(b, a)


def test_all_pairs_are_asked() -> None:
    geometries = np.array(SAMPLES, dtype=object)
    found = pairs_by_predicate(geometries, geometries)
    assert set(found) == set(PREDICATES)
    for name, (rows, columns) in found.items():
        expected = [
            (i, j)
            for i, j in product(range(len(SAMPLES)), repeat=2)
            if holds(name, SAMPLES[i], SAMPLES[j])
        ]
        assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected


def test_bulk_answers_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(3)
    publications = lattice_geometries(rng, 60, span=9)[rng.integers(0, 60, 90)]
    areas = lattice_geometries(rng, 60, span=9)[rng.integers(0, 60, 90)]
    plain = pairs_by_predicate(publications, areas)
    bulk = relation_pairs(publications, areas, list(PREDICATES))
    for name in PREDICATES:
        assert as_set(bulk[name]) == as_set(plain[name]), name
    own = rng.choice(list(PREDICATES), len(areas)).tolist()
    expected = {(i, j) for name in PREDICATES for i, j in as_set(plain[name]) if own[j] == name}
    assert as_set(mixed_pairs(publications, areas, own)) == expected


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    found = list(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True))
    assert len(set(found)) == len(found)
    return set(found)
