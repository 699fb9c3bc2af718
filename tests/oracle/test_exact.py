from __future__ import annotations

import numpy as np
import pytest
import shapely

from tests.lattice import KINDS, lattice_geometries
from tests.match.case_files import Case, read_cases
from tests.oracle import PREDICATES, holds
from tests.oracle.exact import exact_relate, matrix_holds

TOUCHING_HOLE = "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (0 2, 2 1, 2 3, 0 2))"
ISLAND_AT_THE_SHORE = (
    "MULTIPOLYGON (((0 0, 0 5, 5 5, 5 0, 0 0), (4 4, 1 4, 1 1, 4 1, 4 4)), ((3 2, 4 3, 1 3, 3 2)))"
)


def dimensions(first: object, second: object) -> tuple[int, int]:
    return int(shapely.get_dimensions(first)), int(shapely.get_dimensions(second))


@pytest.mark.parametrize("case", read_cases(), ids=str)
def test_the_readable_cases(case: Case) -> None:
    matrix = exact_relate(case.first, case.second)
    held = {
        name
        for name in PREDICATES
        if matrix_holds(name, matrix, dimensions(case.first, case.second))
    }
    assert held == case.predicates


@pytest.mark.parametrize("kinds", [KINDS[:4], ("polygon", "point"), ("polygon", "multipolygon")])
def test_the_matrices_of_shapely(kinds: tuple[str, ...]) -> None:
    rng = np.random.default_rng(11)
    first, second = (lattice_geometries(rng, 60, 0.5, kinds=kinds, span=4) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert exact_relate(a, b) == shapely.relate(a, b), (a.wkt, b.wkt)


def test_predicates_by_their_masks() -> None:
    rng = np.random.default_rng(12)
    first, second = (lattice_geometries(rng, 150, span=4) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        matrix = shapely.relate(a, b)
        for name in PREDICATES:
            assert matrix_holds(name, matrix, dimensions(a, b)) is holds(name, a, b), name


@pytest.mark.parametrize(
    ("area", "line", "matrix"),
    [
        (TOUCHING_HOLE, "LINESTRING (0 1, 0 3)", "FF2101FF2"),
        (TOUCHING_HOLE, "LINESTRING (0 0, 0 4)", "FF2101FF2"),
        (ISLAND_AT_THE_SHORE, "LINESTRING (4 1, 4 4)", "FF2101FF2"),
        (ISLAND_AT_THE_SHORE, "LINESTRING (2 3, 4 3, 5 3)", "1F2101FF2"),
        (ISLAND_AT_THE_SHORE, "LINESTRING (3 2.5, 4 3, 5 3.5)", "102001FF2"),
    ],
)
def test_lines_past_points_where_rings_touch(area: str, line: str, matrix: str) -> None:
    assert exact_relate(shapely.from_wkt(area), shapely.from_wkt(line)) == matrix
