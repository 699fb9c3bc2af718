"""The comparison itself must be able to fail."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from tests.match.comparison import Pair, assert_pairs, found_pairs, publication_table
from tests.oracle.spatial import Pairs

SQUARE, INSIDE, OUTSIDE = shapely.box(0, 0, 2, 2), shapely.Point(1, 1), shapely.Point(5, 5)


def pairs(*found: tuple[int, int]) -> Pairs:
    array = np.array(found, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def pair(row: int, column: int) -> Pair:
    return "within", (INSIDE, OUTSIDE)[row], SQUARE


def test_equal_pairs_pass() -> None:
    assert_pairs(pairs((0, 0)), pairs((0, 0)), pair)


def test_a_missing_pair_fails() -> None:
    with pytest.raises(AssertionError, match=r"missing: POINT \(1 1\) \| within"):
        assert_pairs(pairs(), pairs((0, 0)), pair)


def test_a_wrong_pair_fails() -> None:
    with pytest.raises(AssertionError, match=r"wrong: POINT \(5 5\) \| within"):
        assert_pairs(pairs((0, 0), (1, 0)), pairs((0, 0)), pair)


def test_a_pair_found_twice_fails() -> None:
    with pytest.raises(AssertionError, match="twice"):
        assert_pairs(pairs((0, 0), (0, 0)), pairs((0, 0)), pair)


def test_exact_arithmetic_overrules_shapely() -> None:
    assert_pairs(pairs(), pairs((1, 0)), pair)


def test_a_table_of_another_form_fails() -> None:
    with pytest.raises(AssertionError):
        found_pairs(publication_table(np.array([INSIDE], dtype=object)))
