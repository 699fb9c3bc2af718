from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
import shapely

import geocast
from tests.match.case_files import Case, read_cases
from tests.match.comparison import (
    INDEX_NAMES,
    found_pairs,
    publication_table,
    subscription_table,
)
from tests.oracle import CONVERSE, PREDICATES, relation_names

CASES = read_cases()
NAMES = tuple(PREDICATES)
TYPES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon")
DIMENSION = dict(zip(TYPES, (0, 0, 1, 1, 2, 2), strict=True))


def admitted(first: str, second: str) -> set[str]:
    """The predicates that can hold for some pair of these types, or for its converse."""
    low, high = sorted((DIMENSION[first], DIMENSION[second]))
    possible = {"disjoint", "intersects", "within", "contains", "covers", "coveredby"}
    if low == high:
        possible |= {"equals"}
        if {first, second} != {"Point"} and {first, second} != {"Point", "MultiPoint"}:
            possible |= {"overlaps"}
    if high > 0:
        possible |= {"touches"}
    if (low, high) == (1, 1) or (low < high and {first, second} & _CAN_CROSS[low]):
        possible |= {"crosses"}
    return possible


_CAN_CROSS = {0: {"MultiPoint"}, 1: {"LineString", "MultiLineString"}}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_case_is_right(case: Case) -> None:
    assert case.first.is_valid
    assert case.second.is_valid
    assert relation_names(case.first, case.second) == case.predicates
    converse = {CONVERSE[name] for name in case.predicates}
    assert relation_names(case.second, case.first) == converse


def test_there_are_cases_for_all_predicates_and_pairs_of_types() -> None:
    covered: dict[frozenset[str], set[str]] = {}
    for case in CASES:
        held = covered.setdefault(frozenset(case.types), set())
        held |= case.predicates | {CONVERSE[name] for name in case.predicates}
    for first, second in combinations_with_replacement(TYPES, 2):
        assert covered[frozenset((first, second))] == admitted(first, second), (first, second)


def test_names_of_cases_are_unique() -> None:
    assert len({str(case) for case in CASES}) == len(CASES) >= 250


@cache
def held_by(index: str) -> dict[tuple[int, int], set[str]]:
    """What the product finds for every case (row) in both orders (0: A against B)."""
    first = np.array([case.first for case in CASES], dtype=object)
    second = np.array([case.second for case in CASES], dtype=object)
    publications, areas = np.concatenate([first, second]), np.concatenate([second, first])
    subscriptions = subscription_table(np.repeat(areas, len(NAMES)), NAMES * len(areas))
    matcher = geocast.Matcher(subscriptions, index=index)
    rows, columns = found_pairs(matcher.match(publication_table(publications)))
    own = columns // len(NAMES) == rows
    held: dict[tuple[int, int], set[str]] = {}
    for row, column in zip(rows[own].tolist(), columns[own].tolist(), strict=True):
        order, case = divmod(row, len(CASES))
        held.setdefault((case, order), set()).add(NAMES[column % len(NAMES)])
    return held


@pytest.mark.parametrize("index", INDEX_NAMES)
@pytest.mark.parametrize("row", range(len(CASES)), ids=lambda row: str(CASES[row]))
def test_a_case_is_matched(row: int, index: str) -> None:
    case, held = CASES[row], held_by(index)
    assert held.get((row, 0), set()) == case.predicates, shapely.relate(case.first, case.second)
    converse = {CONVERSE[name] for name in case.predicates}
    assert held.get((row, 1), set()) == converse, shapely.relate(case.second, case.first)
