from __future__ import annotations

from typing import Any

import pytest

from tests.oracle import TextError, parse_text

A, B = {"property": "a"}, {"property": "b"}


def operation(op: str, *args: Any) -> dict[str, Any]:
    return {"op": op, "args": list(args)}


TREES: list[tuple[str, Any]] = [
    ("a = 1", operation("=", A, 1)),
    ("a <> 'x'", operation("<>", A, "x")),
    ("1.5e3 >= a", operation(">=", 1500.0, A)),
    ('"and" < .5', operation("<", {"property": "and"}, 0.5)),
    ("landsat:row = 2.", operation("=", {"property": "landsat:row"}, 2.0)),
    ("größe.höhe > 0", operation(">", {"property": "größe.höhe"}, 0)),
    ("TRUE", True),
    ("false", False),
    ("NOT a = 1", operation("not", operation("=", A, 1))),
    ("a NOT LIKE 'x%'", operation("not", operation("like", A, "x%"))),
    ("a like CASEI('X%')", operation("like", A, operation("casei", "X%"))),
    ("a in (1, b)", operation("in", A, [1, B])),
    ("a IS NULL", operation("isNull", A)),
    ("a IS NOT NULL", operation("not", operation("isNull", A))),
    ("(a = 1) IS NULL", operation("isNull", operation("=", A, 1))),
    ("a = 'it''s'", operation("=", A, "it's")),
    (r"a = 'it\'s'", operation("=", A, "it's")),
    (r"a = 'x\ty\n'", operation("=", A, "x\ty\n")),
    (r"a LIKE '10\%'", operation("like", A, r"10\%")),
    ("a = DATE('2020-01-02')", operation("=", A, {"date": "2020-01-02"})),
    (
        "T_DURING(INTERVAL(a, '..'), INTERVAL('2020-01-01', b))",
        operation("t_during", {"interval": [A, ".."]}, {"interval": ["2020-01-01", B]}),
    ),
    ("A_CONTAINS(a, ('x', 1, TRUE))", operation("a_contains", A, ["x", 1, True])),
    ("a_equals((), a)", operation("a_equals", [], A)),
    ("A_OVERLAPS(a, ((1, 2), (3)))", operation("a_overlaps", A, [[1, 2], [3]])),
    ("a = 1 + 2 * 3", operation("=", A, operation("+", 1, operation("*", 2, 3)))),
    ("(1 + 2) * 3 = a", operation("=", operation("*", operation("+", 1, 2), 3), A)),
    ("-a ^ 2 = b", operation("=", operation("^", operation("*", -1, A), 2), B)),
    ("7 DIV 2 = a % 2", operation("=", operation("div", 7, 2), operation("%", A, 2))),
    (
        "S_INTERSECTS(geometry, POINT(1 -2.5))",
        operation(
            "s_intersects",
            {"property": "geometry"},
            {"type": "Point", "coordinates": [1.0, -2.5]},
        ),
    ),
    (
        "s_within(a, BBOX(-10, 20.5, 30, 40))",
        operation("s_within", A, {"bbox": [-10.0, 20.5, 30.0, 40.0]}),
    ),
]


def geometry(wkt: str) -> Any:
    tree = parse_text(f"S_EQUALS(a, {wkt})")
    return tree["args"][1]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_text_becomes_its_tree(text: str, tree: Any) -> None:
    assert parse_text(text) == tree


def test_and_binds_more_tightly_than_or() -> None:
    tree = parse_text("a = 1 OR a = 2 AND b = 3")
    assert tree["op"] == "or"
    assert tree["args"][1]["op"] == "and"


def test_the_and_of_between_is_not_a_conjunction() -> None:
    tree = parse_text("a BETWEEN 1 AND b AND b = 2")
    assert tree["op"] == "and"
    assert tree["args"][0] == operation("between", A, 1, B)


def test_subtraction_is_read_from_the_left() -> None:
    tree = parse_text("a - 1 - 2 > 0")
    assert tree["args"][0] == operation("-", operation("-", A, 1), 2)


@pytest.mark.parametrize(
    ("wkt", "kind", "coordinates"),
    [
        ("POINT Z (1 2 3)", "Point", [1, 2, 3]),
        ("LINESTRING(0 0, 1 1)", "LineString", [[0, 0], [1, 1]]),
        ("POLYGON((0 0,1 0,1 1,0 0))", "Polygon", [[[0, 0], [1, 0], [1, 1], [0, 0]]]),
        ("MULTIPOINT((0 0),(1 1))", "MultiPoint", [[0, 0], [1, 1]]),
        ("MULTIPOINT(0 0, 1 1)", "MultiPoint", [[0, 0], [1, 1]]),
        ("MULTILINESTRING((0 0, 1 1),(2 2, 3 3))", "MultiLineString", None),
        ("MULTIPOLYGON(((0 0,1 0,1 1,0 0)))", "MultiPolygon", None),
    ],
)
def test_geometries_become_geojson(wkt: str, kind: str, coordinates: Any) -> None:
    literal = geometry(wkt)
    assert literal["type"] == kind
    assert coordinates is None or literal["coordinates"] == coordinates


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a =",
        "= 1",
        "a == 1",
        "a = 1 AND",
        "a = 'open",
        "(a = 1",
        "a = 1)",
        "a NOT 1",
        "a IS 1",
        "a IN ()",
        "a BETWEEN 1",
        "a LIKE b",
        "foo(a) = 1",
        "S_INTERSECTS(a)",
        "S_INTERSECTS(a, POINT(x y))",
        "BBOX(1, 2, 3)",
        "a = 1 ? 2",
        "and = 1",
    ],
)
def test_what_is_not_cql2_is_refused(text: str) -> None:
    with pytest.raises(TextError):
        parse_text(text)
