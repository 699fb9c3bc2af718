from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from geocast.language import AttributeConstraint, normalise
from geocast.match.content import evaluate
from tests.content.batches import batch_of, mixed

T, F, N = True, False, None
NUMERIC = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()),
    *(pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(10, 2), pa.decimal256(40, 0)),
]


def constraint(text: str) -> AttributeConstraint:
    (item,) = normalise(text).filters
    (only,) = item.attributes
    return only


def truth(text: str, **columns: Any) -> list[bool | None]:
    result: list[bool | None] = evaluate(constraint(text), batch_of(columns)).to_pylist()
    return result


@pytest.mark.parametrize("kind", NUMERIC, ids=str)
def test_numbers_of_every_type(kind: pa.DataType) -> None:
    numbers = [Decimal(1), Decimal(2), Decimal(3)] if pa.types.is_decimal(kind) else [1, 2, 3]
    values = pa.array([*numbers, None], kind)
    assert truth("a = 2", a=values) == [F, T, F, N]
    assert truth("a > 1.5", a=values) == [F, T, T, N]
    assert truth("NOT (a <= 2)", a=values) == [F, F, T, N]
    assert truth("a BETWEEN 1.5 AND 2", a=values) == [F, T, F, N]
    assert truth("a IN (1, 3)", a=values) == [T, F, T, N]
    assert truth("a IN (1, 2.5)", a=values) == [T, F, F, N]
    assert truth("a + 1 = 3", a=values) == [F, T, F, N]
    assert truth("a = '2'", a=values) == [N, N, N, N]
    assert truth("a IS NULL", a=values) == [F, F, F, T]


def test_half_floats() -> None:
    values = pa.array(np.array([1.5, 2.0], np.float16))
    assert truth("a > 1.75", a=values) == [F, T]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 9007199254740992", [T, F, F]),
        ("a = 9007199254740993", [F, T, F]),
        ("a > 9007199254740992.0", [F, T, T]),
        ("a = f", [T, F, F]),
        ("a >= f", [T, T, F]),
        ("f < a", [F, T, F]),
        ("a IN (9007199254740993, 5)", [F, T, F]),
        ("a IN (9007199254740993, 0.5)", [F, T, F]),
        ("a + 1 = 9007199254740994", [F, T, F]),
        ("a < 1e300", [T, T, T]),
        ("a > -1e300", [T, T, T]),
        ("a < 99999999999999999999999", [T, T, T]),
        ("a + a > 9223372036854775807", [F, F, T]),
        ("a * a > 0", [T, T, T]),
        ("a div 2 = 4503599627370496", [T, T, F]),
    ],
)
def test_large_integers_are_exact(text: str, expected: list[bool]) -> None:
    integers = pa.array([2**53, 2**53 + 1, 2**63 - 1], pa.int64())
    floats = pa.array([2.0**53, 2.0**53, 2.0**63], pa.float64())
    assert truth(text, a=integers, f=floats) == expected


def test_unsigned_integers_beyond_the_signed_ones() -> None:
    values = pa.array([2**64 - 1, 2**64 - 2, None], pa.uint64())
    assert truth("a = 18446744073709551615", a=values) == [T, F, N]
    assert truth("a > 18446744073709551614", a=values) == [T, F, N]
    assert truth("a > 0.5", a=values) == [T, T, N]


def test_decimals_are_exact() -> None:
    values = pa.array([Decimal("0.10"), Decimal("0.30"), None], pa.decimal128(5, 2))
    assert truth("a <= 0.1", a=values) == [T, F, N]
    assert truth("a = 0.5 * 0.2", a=pa.array([Decimal("0.5")], pa.decimal128(5, 1))) == [F]
    assert truth("a > b", a=values, b=pa.array([0, 1, 2])) == [T, F, N]


@pytest.mark.parametrize("text", ["a = a", "a < 1", "NOT (a < 1)", "a + 1 > 0", "a IN (1, 2)"])
def test_nan_is_null(text: str) -> None:
    assert truth(text, a=np.array([np.nan])) == [N]
    assert truth("a IS NULL", a=np.array([np.nan, 1.0])) == [T, F]


def test_infinities_are_larger_than_all_numbers() -> None:
    values = np.array([np.inf, -np.inf])
    assert truth("a > 99999999999999999999", a=values) == [T, F]
    assert truth("a > b", a=values, b=pa.array([2**63 - 1, -(2**63)])) == [T, F]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b = 9", [T, F, F, N]),
        ("a - b = 5", [T, F, F, N]),
        ("a * b = 14", [T, T, F, N]),
        ("a / b = 3.5", [T, T, N, N]),
        ("a div b = 3", [T, T, N, N]),
        ("a % b = 1", [T, F, N, N]),
        ("a % b = -1", [F, T, N, N]),
        ("a ^ b = 49", [T, F, F, N]),
        ("a / b IS NULL", [F, F, T, T]),
        ("(a - b) * (a + b) = 45", [T, T, F, N]),
    ],
)
def test_arithmetic(text: str, expected: list[bool | None]) -> None:
    a, b = [7, -7, 3, None], [2, -2, 0, 1]
    assert truth(text, a=a, b=b) == expected
    assert truth(text, a=pa.array(a, pa.float64()), b=b) == expected


def test_results_that_are_no_numbers_are_null() -> None:
    assert truth("a ^ 0.5 > 0", a=[-1, 4]) == [N, T]
    assert truth("a ^ -1 > 0", a=[0, 4]) == [N, T]
    assert truth("a * 1e308 > 0", a=[1.0, 100.0]) == [T, N]
    assert truth("1 / 0 = a", a=[1]) == [N]
    assert truth("a div -1 = 9223372036854775808", a=[-(2**63)]) == [T]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_strings_of_every_type(kind: pa.DataType) -> None:
    values = pa.array(["Ab", "b%", "É", "", None], pa.string()).cast(kind)
    assert truth("a = 'Ab'", a=values) == [T, F, F, F, N]
    assert truth("a < 'b'", a=values) == [T, F, F, T, N]
    assert truth("a IN ('Ab', '')", a=values) == [T, F, F, T, N]
    assert truth("a LIKE '_b'", a=values) == [T, F, F, F, N]
    assert truth(r"a LIKE 'b\%'", a=values) == [F, T, F, F, N]
    assert truth("CASEI(a) = 'ab'", a=values) == [T, F, F, F, N]
    assert truth("ACCENTI(a) = 'E'", a=values) == [F, F, T, F, N]
    assert truth("a = 1", a=values) == [N] * 5
    assert truth("a = b", a=values, b=["Ab", "b", "É", "x", "y"]) == [T, F, T, F, N]


def test_case_and_accents_by_unicode() -> None:
    assert truth("CASEI(a) = CASEI('STRASSE')", a=["Straße", "strasse", "Strase"]) == [T, T, F]
    assert truth("CASEI(a) = CASEI('ΟΔΟΣ')", a=["οδος", "οδοσ"]) == [T, T]
    assert truth("ACCENTI(a) = ACCENTI('Crème')", a=["Creme", "Cre\u0300me", "creme"]) == [T, T, F]
    assert truth("ACCENTI(a) = ACCENTI('か')", a=["か", "が"]) == [T, F]
    assert truth("ACCENTI(a) LIKE '_'", a=["한", "é"]) == [T, T]


def test_booleans() -> None:
    values = [True, False, None]
    assert truth("a", a=values) == [T, F, N]
    assert truth("NOT a", a=values) == [F, T, N]
    assert truth("a = FALSE", a=values) == [F, T, N]
    assert truth("a < TRUE", a=values) == [F, T, N]
    assert truth("a = 1", a=values) == [N, N, N]
    assert truth("a", a=[1, 0, None]) == [N, N, N]


UTC = dt.UTC
MOMENTS = [dt.datetime(2020, 1, 1, 0), dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 2), None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_timestamps_of_every_type(unit: str, zone: str | None) -> None:
    aware = [m and m.replace(tzinfo=UTC) for m in MOMENTS]
    values = pa.array(aware, pa.timestamp("us", "UTC")).cast(pa.timestamp(unit, zone))
    assert truth("a > TIMESTAMP('2020-01-01T00:00:00Z')", a=values) == [F, T, T, N]
    assert truth("a = TIMESTAMP('2020-01-01T13:00:00+01:00')", a=values) == [F, T, F, N]
    assert truth("a = DATE('2020-01-01')", a=values) == [T, T, F, N]
    assert truth("a > DATE('2020-01-01')", a=values) == [F, F, T, N]
    assert truth("T_BEFORE(a, DATE('2020-01-02'))", a=values) == [T, T, F, N]
    assert truth("a = '2020-01-01'", a=values) == [N, N, N, N]
    assert truth("a = b", a=values, b=["2020-01-01T00:00:00Z"] * 4) == [T, F, F, N]


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()], ids=str)
def test_dates_of_every_type(kind: pa.DataType) -> None:
    values = pa.array([dt.date(2020, 1, 1), dt.date(1950, 1, 2), None], kind)
    assert truth("a = DATE('2020-01-01')", a=values) == [T, F, N]
    assert truth("a < DATE('1950-01-03')", a=values) == [F, T, N]
    assert truth("a = TIMESTAMP('2020-01-01T15:00:00Z')", a=values) == [T, F, N]
    assert truth("T_EQUALS(a, DATE('2020-01-01'))", a=values) == [T, F, N]
    assert truth("T_EQUALS(a, TIMESTAMP('2020-01-01T00:00:00Z'))", a=values) == [F, F, N]
    assert truth("a <= b", a=values, b=["2020-01-01T05:00:00Z", "1950-01-01", "x"]) == [T, F, N]


@pytest.mark.parametrize(
    "texts",
    [
        ["2020-01-01T00:00:00Z", "2020-01-01T12:00:00.5Z", "2020-01-02T00:00:00Z", None],
        ["2020-01-01T01:00:00+01:00", "2020-01-01T12:00:00", "2020-01-02", None],
    ],
)
def test_times_written_as_strings(texts: list[str | None]) -> None:
    assert truth("a > TIMESTAMP('2020-01-01T00:00:00Z')", a=texts) == [F, T, T, N]
    assert truth("T_AFTER(a, DATE('2020-01-01'))", a=texts) == [F, F, T, N]


def test_strings_that_are_no_times_are_null() -> None:
    texts = ["soon", "", "2020-02-30", "2020-01-01T24:00:00Z", "2020-13-01T00:00:00Z"]
    assert truth("a > DATE('1970-01-01')", a=texts) == [N] * 5
    assert truth("a > DATE('1970-01-01')", a=["2020-02-30T00:00:00Z"] * 2) == [N, N]


def test_times_beyond_microseconds() -> None:
    seconds = pa.array([2**62, -(2**62)], pa.timestamp("s"))
    assert truth("a > DATE('2020-01-01')", a=seconds) == [T, F]


def test_an_interval_of_properties_in_the_wrong_order_is_null() -> None:
    start, end = ["2020-01-03", "2020-01-01"], ["2020-01-02", "2020-01-02"]
    assert truth("T_INTERSECTS(INTERVAL(a, b), INTERVAL('..', '..'))", a=start, b=end) == [N, T]


def test_nested_names() -> None:
    nested = pa.array([{"b": {"c": 1}}, {"b": {"c": None}}, {"b": None}, None])
    assert truth("a.b.c = 1", a=nested) == [T, N, N, N]
    assert truth("a.b.c IS NULL", a=nested) == [F, T, T, T]
    assert truth("a.b IS NULL", a=nested) == [F, F, T, T]
    assert truth("a.x = 1", a=nested) == [N] * 4


def test_a_column_named_with_dots_comes_first() -> None:
    nested = pa.array([{"b": 1}])
    assert truth('"a.b" = 2', **{"a": nested, "a.b": [2]}) == [T]
    assert truth("a.b.c = 3", **{"a.b": pa.array([{"c": 3}])}) == [T]
    assert truth("a.b.c = 4", a=pa.array([{"b.c": 4}])) == [T]


def test_missing_and_null_columns() -> None:
    assert truth("b = 1", a=[1, 2]) == [N, N]
    assert truth("b IS NULL", a=[1, 2]) == [T, T]
    for text in ("a = 1", "a = 'x'", "a", "a LIKE '%'", "a > DATE('2020-01-01')", "a = a"):
        assert truth(text, a=pa.nulls(2)) == [N, N]
    assert truth("A_EQUALS(a, ())", a=pa.nulls(2)) == [N, N]
    assert truth("a IS NULL", a=pa.nulls(2)) == [T, T]


def test_mixed_columns() -> None:
    values = mixed([1, "x", True, 2.5, None, "2020-01-01", [1, 2], {"k": 5}])
    assert truth("a = 1", a=values) == [T, N, N, F, N, N, N, N]
    assert truth("a > 1.5", a=values) == [F, N, N, T, N, N, N, N]
    assert truth("a = 'x'", a=values) == [N, T, N, N, N, F, N, N]
    assert truth("a", a=values) == [N, N, T, N, N, N, N, N]
    assert truth("a <= DATE('2020-01-01')", a=values) == [N, N, N, N, N, T, N, N]
    assert truth("A_CONTAINS(a, (2))", a=values) == [N, N, N, N, N, N, T, N]
    assert truth("a.k = 5", a=values) == [N, N, N, N, N, N, N, T]
    assert truth("a IS NULL", a=values) == [F, F, F, F, T, F, F, F]
    assert truth("CASEI(a) = 'x'", a=values) == [N, T, N, N, N, F, N, N]


def test_mixed_numbers_stay_exact() -> None:
    values = mixed([2**53 + 1, 0.5, "x"])
    assert truth("a = 9007199254740993", a=values) == [T, F, N]
    assert truth("a > 9007199254740992", a=values) == [T, F, N]


def test_sparse_unions_extensions_and_run_lengths() -> None:
    codes = pa.array([0, 1], pa.int8())
    sparse = pa.UnionArray.from_sparse(codes, [pa.array([1, 2]), pa.array(["x", "y"])])
    assert truth("a = 1", a=sparse) == [T, N]
    assert truth("a = 'y'", a=sparse) == [N, T]
    uuids = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "t", "v"), pa.array(["u", "v"]))
    assert truth("a = 'v'", a=uuids) == [F, T]
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", "y"]))
    assert truth("a = 'x'", a=runs) == [T, T, F]


@pytest.mark.parametrize("text", ["a = 1", "a = 'x'", "a", "a = a", "a > DATE('2020-01-01')"])
def test_other_types_are_null_and_not_errors(text: str) -> None:
    for values in ([b"x"], [dt.time(1)], [dt.timedelta(1)], [[1]], [{"x": 1}]):
        assert truth(text, a=values) == [N]
        assert truth("a IS NULL", a=values) == [F]


@pytest.mark.parametrize(
    "text",
    [
        *("a = 1", "a LIKE 'x%'", "CASEI(a) = 'x'", "a IN (1, 2)", "a IN ('x', 'y')", "a IS NULL"),
        *(
            "a + 1 = 2",
            "a % 2 = 1",
            "A_CONTAINS(a, (1))",
            "T_AFTER(a, DATE('2020-01-01'))",
            "a = b",
        ),
    ],
)
@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.string(), pa.date32(), pa.list_(pa.int64())], ids=str
)
def test_empty_batches(text: str, kind: pa.DataType) -> None:
    assert truth(text, a=pa.array([], kind), b=pa.array([], kind)) == []


def test_slices_of_batches() -> None:
    whole = batch_of(
        {"a": [9, 1, 2, 3], "l": [["z"], ["a"], None, ["b"]], "m": mixed([0, 1, "x", 2])}
    )
    part = whole.slice(1, 3)
    assert evaluate(constraint("a >= 2"), part).to_pylist() == [F, T, T]
    assert evaluate(constraint("A_CONTAINS(l, ('b'))"), part).to_pylist() == [F, N, T]
    assert evaluate(constraint("m >= 1"), part).to_pylist() == [T, N, T]
