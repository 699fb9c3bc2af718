from __future__ import annotations

import datetime as dt

import pytest

from tests.oracle import evaluate

INSTANTS = {
    "T_AFTER": "t2 t1",
    "T_BEFORE": "t1 t2",
    "T_DISJOINT": "t1 t2, t2 t1",
    "T_EQUALS": "t1 t1",
    "T_INTERSECTS": "t1 t1",
}
INTERVALS = {
    "T_AFTER": "34 12",
    "T_BEFORE": "12 34",
    "T_DISJOINT": "12 34, 34 12",
    "T_EQUALS": "12 12, 13 13, 14 14, 23 23, 24 24, 34 34",
    "T_CONTAINS": "14 23",
    "T_DURING": "23 14",
    "T_MEETS": "12 23, 12 24, 13 34, 23 34",
    "T_METBY": "23 12, 24 12, 34 13, 34 23",
    "T_OVERLAPS": "13 24",
    "T_OVERLAPPEDBY": "24 13",
    "T_STARTS": "12 13, 12 14, 13 14, 23 24",
    "T_STARTEDBY": "13 12, 14 12, 14 13, 24 23",
    "T_FINISHES": "23 13, 24 14, 34 14, 34 24",
    "T_FINISHEDBY": "13 23, 14 24, 14 34, 24 34",
}
ALL_INTERVALS = ("12", "13", "14", "23", "24", "34")


def pairs(text: str) -> set[tuple[str, str]]:
    found = set()
    for pair in text.split(", "):
        left, right = pair.split()
        found.add((left, right))
    return found


def interval(ends: str) -> str:
    return f"INTERVAL('2020-01-0{ends[0]}', '2020-01-0{ends[1]}')"


@pytest.mark.parametrize("name", INTERVALS)
def test_intervals(name: str) -> None:
    held = {
        (a, b)
        for a in ALL_INTERVALS
        for b in ALL_INTERVALS
        if evaluate(f"{name}({interval(a)}, {interval(b)})", {})
    }
    assert held == pairs(INTERVALS[name])


def test_intersecting_intervals_are_those_that_are_not_disjoint() -> None:
    for a in ALL_INTERVALS:
        for b in ALL_INTERVALS:
            disjoint = evaluate(f"T_DISJOINT({interval(a)}, {interval(b)})", {})
            assert evaluate(f"T_INTERSECTS({interval(a)}, {interval(b)})", {}) is not disjoint


@pytest.mark.parametrize("name", INSTANTS)
def test_instants(name: str) -> None:
    moments = {
        "t1": dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        "t2": dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
    }
    held = {(a, b) for a in moments for b in moments if evaluate(f"{name}({a}, {b})", moments)}
    assert held == pairs(INSTANTS[name]) | ({("t2", "t2")} if ("t1", "t1") in held else set())


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("T_BEFORE(DATE('2019-12-31'), INTERVAL('2020-01-01', '..'))", True),
        ("T_AFTER(DATE('2030-01-01'), INTERVAL('2020-01-01', '..'))", False),
        ("T_INTERSECTS(DATE('2030-01-01'), INTERVAL('2020-01-01', '..'))", True),
        ("T_DURING(INTERVAL('2020-01-01', '2020-01-02'), INTERVAL('..', '..'))", True),
        ("T_STARTS(INTERVAL('2020-01-01', '2020-01-02'), INTERVAL('2020-01-01', '..'))", True),
        ("T_EQUALS(INTERVAL('..', '2020-01-01'), INTERVAL('..', '2020-01-01'))", True),
        ("T_INTERSECTS(day, INTERVAL('2020-01-01', '2020-12-31'))", True),
        ("T_EQUALS(day, INTERVAL('2020-05-01', '2020-05-01'))", True),
        ("T_DURING(INTERVAL(start, day), INTERVAL('2020-01-01', '2020-12-31'))", True),
        ("T_DURING(INTERVAL(unknown, day), INTERVAL('2020-01-01', '2020-12-31'))", None),
        ("T_DURING(day, INTERVAL('2020-01-01', '2020-12-31'))", None),
        ("T_AFTER(text, DATE('2020-04-30'))", True),
        ("T_AFTER(word, DATE('2020-04-30'))", None),
        ("T_AFTER(day, TIMESTAMP('2019-01-01T00:00:00Z'))", True),
        ("T_AFTER(day, TIMESTAMP('2020-05-01T00:00:00Z'))", False),
        ("T_INTERSECTS(day, TIMESTAMP('2020-05-01T12:00:00Z'))", True),
        ("T_EQUALS(day, TIMESTAMP('2020-05-01T00:00:00Z'))", False),
        ("T_INTERSECTS(day, INTERVAL(day, start))", None),
    ],
)
def test_open_ends_properties_and_strings(text: str, truth: bool | None) -> None:
    feature = {
        "day": dt.date(2020, 5, 1),
        "start": dt.date(2020, 4, 1),
        "unknown": None,
        "text": "2020-05-01",
        "word": "soon",
    }
    assert evaluate(text, feature) is truth
