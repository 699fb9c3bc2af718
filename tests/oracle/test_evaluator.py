from __future__ import annotations

import datetime as dt
from itertools import product
from typing import Any

import pytest
import shapely

from tests.oracle import evaluate

FEATURE: dict[str, Any] = {
    "id": "e1",
    "geometry": shapely.Point(1, 1),
    "mag": 4.5,
    "count": 7,
    "place": "Île de Ré",
    "street": "STRASSE",
    "active": True,
    "nothing": None,
    "tags": ["a", "b"],
    "mixed": [1, True, "x"],
    "day": dt.date(2020, 5, 1),
    "time": dt.datetime(2020, 5, 1, 12, tzinfo=dt.UTC),
    "naive": dt.datetime(2020, 5, 1, 12),
    "text_time": "2020-05-01T12:00:00Z",
    "text_day": "2020-05-01",
    "inner": {"depth": 10},
    "wrong": float("nan"),
    "dotted.name": 3,
}

TRUE = [
    "mag = 4.5",
    "mag <> 4",
    "count >= 7",
    "count < mag + 3",
    "active = TRUE",
    "active > FALSE",
    "place > 'I'",
    "id = 'e1'",
    "inner.depth = 10",
    "dotted.name = 3",
    "nothing IS NULL",
    "missing IS NULL",
    "geometry IS NOT NULL",
    "(nothing = 1) IS NULL",
    "place LIKE 'Île%'",
    "place LIKE '%_Ré'",
    "place LIKE '___ de R_'",
    "place NOT LIKE 'île%'",
    "CASEI(place) LIKE CASEI('ÎLE%')",
    "ACCENTI(place) = ACCENTI('Ile de Re')",
    "ACCENTI(CASEI(place)) LIKE ACCENTI(CASEI('ILÉ%'))",
    "CASEI(street) = CASEI('straße')",
    r"'50%' LIKE '50\%'",
    r"'a_b' LIKE 'a\_b'",
    "'two\nlines' LIKE 'two%'",
    "mag BETWEEN 4.5 AND 4.5",
    "mag NOT BETWEEN 5 AND 4",
    "count IN (1, 7.0)",
    "count NOT IN (1, 2)",
    "count + 1 = 8 AND count - 1 = 6 AND count * 2 = 14",
    "count / 2 = 3.5",
    "count DIV 2 = 3",
    "count % 2 = 1",
    "2 ^ count = 128",
    "day = DATE('2020-05-01')",
    "time > TIMESTAMP('2020-05-01T11:59:59.999Z')",
    "naive = TIMESTAMP('2020-05-01T12:00:00Z')",
    "text_time = TIMESTAMP('2020-05-01T12:00:00Z')",
    "text_day < DATE('2020-05-02')",
    "day = TIMESTAMP('2020-05-01T23:00:00Z')",
    "time <= DATE('2020-05-01')",
    "day BETWEEN DATE('2020-05-01') AND DATE('2020-05-02')",
    "-7 DIV 2 = -3",
    "-7 % 2 = -1",
    "9007199254740993 DIV 1 = 9007199254740993",
    "9007199254740993 % 2 = 1",
    "day IN (DATE('2020-05-01'), DATE('2021-05-01'))",
    "A_CONTAINS(tags, ('a'))",
    "A_CONTAINS(tags, ())",
    "A_EQUALS(tags, ('b', 'a', 'b'))",
    "A_CONTAINEDBY(tags, ('a', 'b', 'c'))",
    "A_OVERLAPS(tags, ('z', 'b'))",
    "NOT A_OVERLAPS(tags, (1))",
    "A_EQUALS(mixed, (1.0, TRUE, 'x'))",
    "S_WITHIN(geometry, BBOX(0, 0, 2, 2))",
    "S_CONTAINS(BBOX(0, 0, 2, 2), geometry)",
    "S_TOUCHES(geometry, LINESTRING(1 1, 2 2))",
    "S_COVEREDBY(geometry, LINESTRING(1 1, 2 2))",
    "S_COVERS(geometry, POINT(1 1))",
    "NOT S_INTERSECTS(geometry, POINT(1 2))",
    "S_EQUALS(POINT(3 3), MULTIPOINT((3 3), (3 3)))",
    "S_INTERSECTS(geometry, POINT Z (1 1 9))",
    "S_INTERSECTS(geometry, BBOX(0, 0, -5, 2, 2, 5))",
    "S_DISJOINT(geometry, BBOX(170, -10, -170, 10))",
    "S_INTERSECTS(POINT(-175 0), BBOX(170, -10, -170, 10))",
]

FALSE = [
    "mag = 4",
    "active = FALSE",
    "place LIKE 'Ile%'",
    "'aXb' LIKE 'a\\_b'",
    "count BETWEEN 8 AND 6",
    "count IN (1, 2)",
    "geometry IS NULL",
    "A_EQUALS(mixed, (1, 'x'))",
    "A_CONTAINS(mixed, (FALSE))",
    "S_WITHIN(geometry, LINESTRING(1 1, 2 2))",
    "day <> DATE('2020-05-01')",
]

NULL = [
    "nothing = 1",
    "nothing <> 1",
    "missing > missing",
    "NOT nothing = 1",
    "nothing LIKE '%'",
    "nothing BETWEEN 1 AND 2",
    "count BETWEEN 8 AND nothing",
    "nothing IN (1, 2)",
    "nothing NOT IN (1, 2)",
    "count IN (1, nothing)",
    "nothing + 1 = 1",
    "count / 0 = 1",
    "count % 0 = 1",
    "count DIV 0 = 1",
    "wrong = wrong",
    "10 ^ 400 > 1",
    "(0 - 1) ^ 0.5 = 1",
    "CASEI(nothing) = 'x'",
    "count = '7'",
    "active = 1",
    "count LIKE '7'",
    "place BETWEEN 1 AND 2",
    "place + 1 = 1",
    "place = DATE('2020-05-01')",
    "A_EQUALS(nothing, ('a'))",
    "A_EQUALS(place, ('a'))",
    "S_WITHIN(nothing, BBOX(0, 0, 2, 2))",
    "T_AFTER(nothing, DATE('2020-01-01'))",
]


@pytest.mark.parametrize("text", TRUE)
def test_true(text: str) -> None:
    assert evaluate(text, FEATURE) is True
    assert evaluate(f"NOT ({text})", FEATURE) is False


@pytest.mark.parametrize("text", FALSE)
def test_false(text: str) -> None:
    assert evaluate(text, FEATURE) is False
    assert evaluate(f"NOT ({text})", FEATURE) is True


@pytest.mark.parametrize("text", NULL)
def test_null(text: str) -> None:
    assert evaluate(text, FEATURE) is None
    assert evaluate(f"NOT ({text})", FEATURE) is None


TRUTH = {"TRUE": True, "FALSE": False, "nothing = 1": None}
AND = {(True, True): True, (True, None): None, (None, True): None, (None, None): None}
OR = {(False, False): False, (False, None): None, (None, False): None, (None, None): None}


@pytest.mark.parametrize(("left", "right"), list(product(TRUTH, TRUTH)))
def test_the_truth_table_of_the_standard(left: str, right: str) -> None:
    values = TRUTH[left], TRUTH[right]
    assert evaluate(f"{left} AND {right}", FEATURE) is AND.get(values, False)
    assert evaluate(f"{left} OR {right}", FEATURE) is OR.get(values, True)


def test_json_and_text_agree() -> None:
    tree = {
        "op": "and",
        "args": [
            {"op": ">=", "args": [{"property": "mag"}, 4.5]},
            {"op": "a_containedBy", "args": [{"property": "tags"}, ["a", "b"]]},
            {"op": "not", "args": [{"op": "isNull", "args": [{"property": "place"}]}]},
            {"op": "s_within", "args": [{"property": "geometry"}, {"bbox": [0, 0, 2, 2]}]},
        ],
    }
    text = (
        "mag >= 4.5 AND A_CONTAINEDBY(tags, ('a', 'b')) AND place IS NOT NULL "
        "AND S_WITHIN(geometry, BBOX(0, 0, 2, 2))"
    )
    assert evaluate(tree, FEATURE) is True
    assert evaluate(text, FEATURE) is True
    assert evaluate(tree, {**FEATURE, "mag": 4}) is False
    assert evaluate(text, {**FEATURE, "mag": 4}) is False


def test_voicing_marks_are_not_accents() -> None:
    assert evaluate("ACCENTI(a) = ACCENTI('はしめ')", {"a": "はじめ"}) is False
    assert evaluate("ACCENTI(a) = ACCENTI('はじめ')", {"a": "はじめ"}) is True
