from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.content.batches import mixed
from tests.content.test_evaluate import truth

T, F, N = True, False, None
LISTS = [[1, 2], [2], [], [2, 2, 1], None]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int64()),
        pa.large_list(pa.int8()),
        pa.list_(pa.float64()),
        pa.list_(pa.decimal128(21, 2)),
    ],
    ids=str,
)
def test_lists_of_numbers(kind: pa.DataType) -> None:
    values = pa.array(LISTS).cast(kind)
    assert truth("A_CONTAINS(a, (1))", a=values) == [T, F, F, T, N]
    assert truth("A_CONTAINEDBY(a, (1, 2, 3))", a=values) == [T, T, T, T, N]
    assert truth("A_EQUALS(a, (1, 2))", a=values) == [T, F, F, T, N]
    assert truth("A_OVERLAPS(a, (1, 5))", a=values) == [T, F, F, T, N]
    assert truth("A_OVERLAPS(a, ('1', '2'))", a=values) == [F, F, F, F, N]


def test_fixed_size_lists() -> None:
    values = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2))
    assert truth("A_CONTAINS(a, (4))", a=values) == [F, N, T]


def test_lists_of_other_types() -> None:
    assert truth("A_CONTAINS(a, ('x'))", a=[["x", "y"], ["y"]]) == [T, F]
    assert truth("A_CONTAINS(a, (TRUE))", a=[[True], [False]]) == [T, F]
    words = pa.array([["x"], ["y"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    assert truth("A_CONTAINS(a, ('x'))", a=words) == [T, F]
    days = [[dt.date(2020, 1, 1)], [dt.date(2020, 1, 2)]]
    assert truth("A_CONTAINS(a, (DATE('2020-01-01')))", a=days) == [T, F]


def test_times_written_as_strings() -> None:
    texts = [["2020-01-01T00:00:00Z", "soon"], ["2020-01-01"]]
    assert truth("A_CONTAINS(a, (TIMESTAMP('2020-01-01T00:00:00Z')))", a=texts) == [T, F]
    assert truth("A_CONTAINS(a, (TIMESTAMP('2020-01-01T01:00:00+01:00'), 'soon'))", a=texts) == [
        T,
        F,
    ]


def test_elements_of_several_types() -> None:
    flat = mixed([1, "1", True, 2, None])
    values = pa.ListArray.from_arrays(pa.array([0, 3, 5], pa.int32()), flat)
    assert truth("A_EQUALS(a, (TRUE, 1, '1'))", a=values) == [T, F]
    assert truth("A_CONTAINS(a, (1))", a=values) == [T, F]
    assert truth("A_CONTAINEDBY(a, (1, 2, '1', TRUE))", a=values) == [T, F]


def test_a_null_element_equals_nothing() -> None:
    assert truth("A_CONTAINS(a, (1))", a=[[1, None], [None]]) == [T, F]
    assert truth("A_CONTAINEDBY(a, (1))", a=[[1, None], [1]]) == [F, T]
    assert truth("A_CONTAINEDBY(a, (1))", a=pa.array([[None], []])) == [F, T]
    assert truth("A_OVERLAPS(a, (b, 2))", a=[[1], [1], [2]], b=[1, None, None]) == [T, F, T]
    assert truth("A_CONTAINS(a, (b))", a=[[1], [1]], b=[1, None]) == [T, F]


def test_elements_that_are_no_scalars_equal_nothing() -> None:
    nested = pa.array([[[1]], []], pa.list_(pa.list_(pa.int64())))
    assert truth("A_CONTAINEDBY(a, (1))", a=nested) == [F, T]
    assert truth("A_OVERLAPS(a, (1))", a=nested) == [F, F]


def test_what_is_no_list_is_null() -> None:
    assert truth("A_CONTAINS(a, (1))", a=[1, 2]) == [N, N]
    assert truth("A_CONTAINS(a, b)", a=[[1], [2]], b=[[1], None]) == [T, N]


def relation(name: str, left: set[Any], right: set[Any]) -> bool:
    return {
        "A_EQUALS": left == right,
        "A_CONTAINS": left >= right,
        "A_CONTAINEDBY": left <= right,
        "A_OVERLAPS": bool(left & right),
    }[name]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["A_EQUALS", "A_CONTAINS", "A_CONTAINEDBY", "A_OVERLAPS"]),
    st.lists(st.tuples(*[st.lists(st.integers(0, 4), max_size=4)] * 2), min_size=1, max_size=20),
)
def test_as_sets(name: str, rows: list[tuple[list[int], list[int]]]) -> None:
    left, right = zip(*rows, strict=True)
    columns = {
        "a": pa.array(left, pa.list_(pa.int64())),
        "b": pa.array(right, pa.list_(pa.int32())),
    }
    expected = [relation(name, set(a), set(b)) for a, b in rows]
    assert truth(f"{name}(a, b)", **columns) == expected
    literal = ", ".join(map(str, right[0]))
    expected = [relation(name, set(a), set(right[0])) for a in left]
    assert truth(f"{name}(a, ({literal}))", **columns) == expected
