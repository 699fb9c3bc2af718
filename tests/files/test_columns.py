from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocast.files.columns import column

_BIG = 2**60 + 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], pa.null()),
        ([None, None], pa.null()),
        ([True, None], pa.bool_()),
        ([1, None, -(2**63)], pa.int64()),
        ([1, 2.5], pa.float64()),
        ([0.5], pa.float64()),
        ([2**63], pa.float64()),
        (["a", None], pa.string()),
        ([[1], None, []], pa.list_(pa.int64())),
        ([[], None], pa.list_(pa.null())),
        ([["a"], [None]], pa.list_(pa.string())),
        ([[1, "a"]], pa.string()),
        ([{"a": 1}, {"b": "x"}, None], pa.struct([("a", pa.int64()), ("b", pa.string())])),
        ([{}], pa.struct([])),
        ([[{"a": 1}]], pa.list_(pa.struct([("a", pa.int64())]))),
    ],
)
def test_values_of_one_kind_have_the_plain_type(values: list[Any], kind: pa.DataType) -> None:
    assert column(values).type == kind


@pytest.mark.parametrize(
    ("values", "members"),
    [
        ([1, "a", None, True, 2.5], ["number", "string", "boolean"]),
        ([1, "a"], ["integer", "string"]),
        ([_BIG, 0.5, 3], ["integer", "number"]),
        ([{"a": 1}, "x"], ["object", "string"]),
        ([[1], ["a"], None], ["list of integer", "list of string"]),
        ([[1], ["a"], [], [1, "a"]], ["list of integer", "list of string", "text"]),
        ([[1], 1], ["list of integer", "integer"]),
        ([{"a": 1}, {"a": "x"}, {"a": True}], ["object", "object 2", "object 3"]),
    ],
)
def test_values_of_several_kinds_keep_theirs_in_a_union(
    values: list[Any], members: list[str]
) -> None:
    found = column(values)
    assert pa.types.is_union(found.type)
    assert found.type.mode == "dense"
    assert [found.type.field(i).name for i in range(found.type.num_fields)] == members


def test_a_union_can_be_sliced_taken_and_filtered() -> None:
    values = [1, "a", None, True, 2]
    batch = pa.record_batch({"v": column(values)})
    assert batch.slice(1, 3).column("v").to_pylist() == ["a", None, True]
    assert batch.take(pa.array([4, 1])).column("v").to_pylist() == [2, "a"]
    keep = pa.array([True, False, True, False, True])
    assert batch.filter(keep).column("v").to_pylist() == [1, None, 2]


def test_a_mixed_field_does_not_spoil_the_fields_beside_it() -> None:
    values = [{"a": 1, "b": 1}, None, {"a": "x", "b": 2}, {"b": 3}]
    found = column(values)
    assert [found.field(i).type.field("b").type for i in range(2)] == [pa.int64()] * 2
    assert found.to_pylist() == [values[0], None, values[2], {"a": None, "b": 3}]


def _types_within(kind: pa.DataType) -> list[pa.DataType]:
    fields = [kind.field(i).type for i in range(kind.num_fields)]
    return [*fields, *(inner for field in fields for inner in _types_within(field))]


def test_whole_numbers_beyond_64_bits_become_doubles() -> None:
    assert column([2**63, 1]).to_pylist() == [2.0**63, 1.0]
    assert column([[2**64 - 1]]).to_pylist() == [[2.0**64]]


def test_deep_nesting_ends_in_json_text() -> None:
    value: Any = 1
    for _ in range(100):
        value = {"a": value}
    found: Any = column([value]).to_pylist()[0]
    depth = 0
    while isinstance(found, dict):
        found, depth = found["a"], depth + 1
    assert depth == 8
    assert found.startswith('{"a":{"a":')


def test_an_object_column_with_very_many_names_is_json_text() -> None:
    values = [{f"name{i}": i} for i in range(3_000)]
    found = column(values)
    assert found.type == pa.string()
    assert found[7].as_py() == '{"name7":7}'


_scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
_json = st.recursive(
    _scalars | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(_scalars | st.text(), max_size=12))
def test_scalars_come_back_as_they_are(values: list[Any]) -> None:
    found = column(values).to_pylist()
    assert found == values
    assert [isinstance(v, bool) for v in found] == [isinstance(v, bool) for v in values]


@given(st.lists(_json, max_size=8))
def test_any_json_becomes_a_valid_array(values: list[Any]) -> None:
    found = column(values)
    found.validate(full=True)
    assert len(found) == len(values)
    assert [v is None for v in found.to_pylist()] == [v is None for v in values]
    assert not any(pa.types.is_union(kind) for kind in _types_within(found.type))


def test_a_column_of_very_many_kinds_is_json_text() -> None:
    values = [{"a": {f"b{i}": 1 if i % 2 else "x", "c": {f"d{i}": i}}} for i in range(20)]
    assert column(values).type.num_fields == 1
    conflicting = [{f"n{j}": 1 if i >> j & 1 else "x" for j in range(7)} for i in range(128)]
    found = column(conflicting)
    assert found.type == pa.string()
    assert json.loads(found[5].as_py()) == conflicting[5]
