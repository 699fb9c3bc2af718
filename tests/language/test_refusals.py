from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from geocast.errors import FilterLimitError, FilterSyntaxError, FilterTypeError, LanguageError
from geocast.language import MAX_DEPTH, normalise

SYNTAX = [
    ("", 0, "ends too early"),
    ("a =", 3, "ends too early"),
    ("a = = 1", 4, "unexpected '='"),
    ("a = 1 b = 2", 6, "unexpected 'b'"),
    ("(a = 1", 6, "expected ')'"),
    ("a = 1)", 5, "unexpected ')'"),
    ("a = 'x", 4, "never closed"),
    ('"a = 1', 0, "never closed"),
    ("a != 1", 2, "write '<>'"),
    ("a = 1;", 5, "unexpected character ';'"),
    ("AND a", 0, "unexpected 'AND'"),
    ("a = NULL", 4, "IS NULL"),
    ("a IS 1", 5, "expected 'NULL'"),
    ("a NOT = 1", 6, "expected LIKE, BETWEEN or IN"),
    ("a BETWEEN 1 OR 2", 12, "expected 'AND'"),
    ("a IN 1", 5, "expected '('"),
    ("a IN ()", 5, "at least one"),
    ("a IN (1,)", 8, "unexpected ')'"),
    ("a = 1 = 2", 6, "use parentheses"),
    ("a ^ 2 ^ 3 = 1", 6, "use parentheses"),
    ("a = 1 AND nosuch(b) = 2", 10, "unknown function 'nosuch'"),
    ("S_INTERSECT(geometry, POINT(1 2))", 0, "did you mean S_INTERSECTS?"),
    ("S_INTERSECTS(geometry)", 0, "takes 2 arguments, not 1"),
    ("CASEI(a, b) = 'x'", 0, "takes 1 argument, not 2"),
    ("S_INTERSECTS(geometry, POINT(1))", 23, "not a geometry"),
    ("S_INTERSECTS(geometry, POINT(1 2)", 33, "expected ')'"),
    ("S_INTERSECTS(geometry, POLYGON((0 0, 1 1)", 23, "never closed"),
    ("S_INTERSECTS(geometry, BBOX(1, 2, 3))", 23, "4 or 6 numbers"),
    ("t = DATE('2020-02-30')", 9, "not a date"),
    ("t = DATE('20200201')", 9, "not a date"),
    ("t = TIMESTAMP('2020-02-01')", 14, "not a time"),
    ("T_AFTER(t, INTERVAL('yesterday', '..'))", 20, "not a time"),
]
TYPES = [
    ("1 = 'a'", 4, "a number with a string"),
    ("a = 1 OR TRUE = 1", 16, "a boolean with a number"),
    ("a IN (1, 'x')", 9, "a number with a string"),
    ("a IN (b, 1, 'x')", 12, "a number with a string"),
    ("'a' IN (b, 1)", 11, "a string with a number"),
    ("a BETWEEN 1 AND 'x'", 16, "a number with a string"),
    ("a + 'x' = 1", 4, "a string cannot be used with +"),
    ("-'x' = 1", 1, "a string"),
    ("+'x' = 1", 1, "a string"),
    ("1 LIKE 'x'", 0, "LIKE needs a string, not a number"),
    ("a + 1 LIKE 'x'", 0, "LIKE needs a string, not a number"),
    ("a LIKE 1", 7, "pattern"),
    ("a LIKE b", 7, "pattern"),
    ("CASEI(1) = 'x'", 6, "CASEI needs a string"),
    ("DATE('2020-01-01') = 1", 21, "a date or time with a number"),
    ("DATE(a) = b", 5, "string literal"),
    ("a AND 1", 6, "a number stands where a condition is needed"),
    ("'x'", 0, "a string stands where a condition is needed"),
    ("NOT 1", 4, "a condition is needed"),
    ("geometry", 0, "a geometry stands where a condition is needed"),
    ("geometry = 1", 0, "use the S_ functions"),
    ("(a = 1) = TRUE", 0, "a condition cannot be used with ="),
    ("a = (1, 2)", 4, "use the A_ functions"),
    ("INTERVAL('..', '..') = a", 0, "use the T_ functions"),
    ("T_AFTER(a, '2020-01-01')", 11, "not a string"),
    ("T_AFTER(a, 1)", 11, "not a number"),
    ("T_AFTER(a, INTERVAL(1, '..'))", 20, "cannot bound an interval"),
    ("T_AFTER(a, INTERVAL('2021-01-01', '2020-01-01'))", 11, "ends before it starts"),
    ("A_CONTAINS(a, 'x')", 14, "needs arrays, not a string"),
    ("A_CONTAINS(a, (1, (2, 3)))", 18, "an array cannot be an element"),
    ("A_CONTAINS(a, (b = 1, 2))", 15, "a condition cannot be an element"),
    ("(1, 2) IS NULL", 0, "an array"),
    ("S_INTERSECTS(geometry, 1)", 23, "a number is not a geometry"),
    ("S_INTERSECTS(footprint, POINT(1 2))", 13, "called 'geometry'"),
    ("S_INTERSECTS(geometry, POINT EMPTY)", 23, "empty"),
    ("S_INTERSECTS(geometry, GEOMETRYCOLLECTION(POINT(1 2)))", 23, "GeometryCollection"),
    ("S_INTERSECTS(geometry, POLYGON((0 0, 1 1, 1 0, 0 1, 0 0)))", 23, "Self-intersection"),
    ("S_INTERSECTS(geometry, POINT(181 0))", 23, "(181 0)"),
    ("S_INTERSECTS(geometry, POINT(0 -90.5))", 23, "(0 -90.5)"),
    ("S_INTERSECTS(geometry, POINT(NaN 1))", 23, "not a finite number"),
    ("S_INTERSECTS(geometry, POINT(Inf 1))", 23, "not a finite number"),
    ("S_INTERSECTS(geometry, BBOX(1, 2, 1, 4))", 23, "no area"),
    ("S_INTERSECTS(geometry, BBOX(a, 2, 1, 4))", 28, "numbers only"),
    ("a = 1e400", 4, "not finite"),
]


@pytest.mark.parametrize(("text", "position", "reason"), SYNTAX)
def test_syntax_errors_have_position_and_reason(text: str, position: int, reason: str) -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        normalise(text)
    assert caught.value.position == position
    assert reason in caught.value.reason


@pytest.mark.parametrize(("text", "position", "reason"), TYPES)
def test_type_errors_have_position_and_reason(text: str, position: int, reason: str) -> None:
    with pytest.raises(FilterTypeError) as caught:
        normalise(text)
    assert caught.value.position == position
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({}, "$", "needs 'op'"),
        ({"op": "and", "args": [True]}, "$.args", "at least 2"),
        ({"op": "=", "args": [{"property": "a"}, None]}, "$.args[1]", "isNull"),
        ({"op": "=", "args": [{"property": 1}, 1]}, "$.args[0].property", "a string"),
        ({"op": "=", "args": [1, "a"]}, "$.args[1]", "a number with a string"),
        ({"op": "=", "args": [{"property": "a"}]}, "$.args", "takes 2 arguments, not 1"),
        ({"op": "="}, "$", "a list of 'args'"),
        ({"op": 1, "args": []}, "$.op", "a string"),
        ({"op": "nosuch", "args": []}, "$", "unknown function 'nosuch'"),
        ({"op": "in", "args": [{"property": "a"}, 1]}, "$.args[1]", "a list"),
        ({"op": "in", "args": [{"property": "a"}, [1, "x"]]}, "$.args[1][1]", "with a string"),
        ({"op": "not", "args": [{"op": "+", "args": [1, 2]}]}, "$.args[0]", "a condition"),
        ({"op": "=", "args": [{"property": "a"}, float("nan")]}, "$.args[1]", "not finite"),
        ({"op": "=", "args": [{"property": "a"}, {1, 2}]}, "$.args[1]", "not a CQL2 value"),
        ({"op": "t_after", "args": [{"property": "a"}, {"date": "x"}]}, "$.args[1].date", "date"),
        (
            {"op": "s_within", "args": [{"property": "geometry"}, {"type": "Point"}]},
            "$.args[1]",
            "not a GeoJSON geometry",
        ),
        (
            {
                "op": "s_within",
                "args": [
                    {"property": "geometry"},
                    {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}},
                ],
            },
            "$.args[1]",
            "not a GeoJSON geometry",
        ),
    ],
)
def test_json_errors_have_path_and_reason(value: Any, path: str, reason: str) -> None:
    with pytest.raises(LanguageError) as caught:
        normalise(value)
    assert caught.value.path == path
    assert reason in caught.value.reason


def test_json_text_that_is_no_json_is_refused_at_its_position() -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        normalise('{"op": =}')
    assert caught.value.position == 7


def test_input_that_no_library_below_would_survive() -> None:
    collection = "GEOMETRYCOLLECTION(" * 100_000 + "POINT(1 2)" + ")" * 100_000
    with pytest.raises(FilterLimitError, match="nested"):
        normalise(f"S_INTERSECTS(geometry, {collection})")
    coordinates: Any = 1
    for _ in range(100_000):
        coordinates = [coordinates]
    shape = {"type": "Polygon", "coordinates": coordinates}
    with pytest.raises(FilterLimitError, match="nested"):
        normalise({"op": "s_within", "args": [{"property": "geometry"}, shape]})
    while isinstance(coordinates, list):
        coordinates = coordinates[0]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("a = " + "9" * 5_000, "not finite"),
        ('{"op": "=", "args": [{"property": "a"}, ' + "9" * 5_000 + "]}", "too many digits"),
        ({"op": "=", "args": [{"property": "a"}, 10**400]}, "not finite"),
        ({"op": "=", "args": [{"property": "a"}, "\ud800"]}, "not valid Unicode"),
        ({"op": "=", "args": [{"property": "\ud800"}, 1]}, "not valid Unicode"),
        ("a = '\ud800'", "not valid Unicode"),
        ("a LIKE '" + "_" * 10_001 + "'", "more than 10000 characters"),
        ("t = TIMESTAMP('0001-01-01T00:00:00+01:00')", "not a time"),
    ],
)
def test_values_that_no_column_can_hold(expression: Any, reason: str) -> None:
    with pytest.raises(LanguageError, match=reason):
        normalise(expression)


NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n + "a = 1" + ")" * n,
    "negations": lambda n: "NOT " * n + "a = 1",
    "negated parentheses": lambda n: "NOT (" * n + "a = 1" + ")" * n,
    "conjunctions": lambda n: "(b AND " * n + "a = 1" + ")" * n,
    "null tests": lambda n: "(" * n + "a = 1" + ") IS NULL" * n,
    "signs": lambda n: "- " * n + "a = 1",
    "functions": lambda n: "CASEI(" * n + "a" + ")" * n + " = 'x'",
    "sums": lambda n: " + ".join(["a"] * (n + 1)) + " = 1",
    "arrays": lambda n: f"A_EQUALS(a, {'(' * (n - 1)}1{')' * (n - 1)})",
    "mixtures": lambda n: (
        "NOT " * (n % 3) + "NOT (b OR (" * (n // 3) + "a = 1" + ") IS NULL)" * (n // 3)
    ),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nesting_is_limited_without_exhausting_the_stack(kind: str) -> None:
    normalise(NESTED[kind](MAX_DEPTH))
    for levels in (MAX_DEPTH + 1, 50_000):
        with pytest.raises(FilterLimitError, match="nested more than 100 levels"):
            normalise(NESTED[kind](levels))


def nested_json(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"op": "=", "args": [{"property": "a"}, 1]}
    for _ in range(levels):
        value = {"op": "not", "args": [value]}
    return value


def test_nesting_of_json_is_limited() -> None:
    normalise(nested_json(MAX_DEPTH))
    with pytest.raises(FilterLimitError, match="nested more than 100 levels"):
        normalise(nested_json(MAX_DEPTH + 1))
    with pytest.raises(FilterLimitError, match="nested more than 100 levels"):
        normalise(nested_json(5_000))
    with pytest.raises(FilterLimitError):
        normalise('{"op":"not","args":[' * 100_000 + "]}" * 100_000)


def blown_up(terms: int) -> str:
    return " AND ".join(f"(a = {i} OR b = {i})" for i in range(terms))


def test_at_most_a_thousand_filters() -> None:
    assert len(normalise(blown_up(9)).filters) == 512
    with pytest.raises(FilterLimitError, match="more than 1000 filters"):
        normalise(blown_up(10))
    assert len(normalise(" OR ".join(f"a = {i}" for i in range(1000))).filters) == 1000
    with pytest.raises(FilterLimitError):
        normalise(" OR ".join(f"a = {i}" for i in range(1001)))


@pytest.mark.timeout(20)
def test_an_explosion_is_refused_before_it_is_built() -> None:
    with pytest.raises(FilterLimitError):
        normalise(blown_up(5_000))
    with pytest.raises(FilterLimitError):
        normalise(json.loads(json.dumps({"op": "not", "args": [_or_of_ands(400)]})))


def _or_of_ands(terms: int) -> dict[str, Any]:
    pairs = [[{"op": "=", "args": [{"property": p}, i]} for p in "ab"] for i in range(terms)]
    return {"op": "or", "args": [{"op": "and", "args": pair} for pair in pairs]}
