from __future__ import annotations

import math
import re
import struct
from typing import Any

import pyarrow as pa
import pytest
import shapely

import geocast
from geocast.errors import InputError
from geocast.model import Reject, Rejects

SQUARE = shapely.box(0, 0, 2, 2).wkb
INSIDE = shapely.Point(1, 1).wkb


def wkt(text: str) -> bytes:
    return bytes(shapely.from_wkt(text).wkb)


def point(x: float, y: float) -> bytes:
    return struct.pack("<BIdd", 1, 1, x, y)


def line(*xy: float) -> bytes:
    return struct.pack(f"<BII{len(xy)}d", 1, 2, len(xy) // 2, *xy)


def ring(*xy: float) -> bytes:
    return struct.pack(f"<BIII{len(xy)}d", 1, 3, 1, len(xy) // 2, *xy)


BAD_GEOMETRIES: dict[str, tuple[bytes | None, str]] = {
    "empty bytes": (b"", "geometry"),
    "no WKB": (b"POINT (1 1)", "geometry"),
    "truncated point": (INSIDE[:-3], "geometry"),
    "truncated polygon": (SQUARE[:-8], "geometry"),
    "header alone": (SQUARE[:5], "geometry"),
    "count beyond the data": (struct.pack("<BII", 1, 2, 4_000_000_000), "geometry"),
    "count of parts beyond the data": (struct.pack("<BII", 1, 6, 4_294_967_295), "geometry"),
    "unknown type": (struct.pack("<BI", 1, 99) + bytes(16), "geometry"),
    "curve": (struct.pack("<BII6d", 1, 8, 3, 0, 0, 1, 1, 2, 0), "(?i)geometry|circular|curve"),
    "multipoint of lines": (struct.pack("<BII", 1, 4, 1) + line(0, 0, 1, 1), "geometry"),
    "empty point": (wkt("POINT EMPTY"), "empty"),
    "empty line": (wkt("LINESTRING EMPTY"), "empty"),
    "empty polygon": (wkt("POLYGON EMPTY"), "empty"),
    "empty multipoint": (wkt("MULTIPOINT EMPTY"), "empty"),
    "empty multiline": (wkt("MULTILINESTRING EMPTY"), "empty"),
    "empty multipolygon": (wkt("MULTIPOLYGON EMPTY"), "empty"),
    "bow-tie": (wkt("POLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))"), "elf-intersection"),
    "hole outside": (wkt("POLYGON ((0 0, 1 0, 1 1, 0 0), (5 5, 6 5, 6 6, 5 5))"), "ole"),
    "overlapping parts": (
        wkt("MULTIPOLYGON (((0 0, 2 0, 2 2, 0 0)), ((1 0, 3 0, 3 2, 1 0)))"),
        "elf-intersection",
    ),
    "line of one spot": (line(1, 1, 1, 1), "point"),
    "ring that is not closed": (ring(0, 0, 1, 0, 1, 1, 0, 1), "clos"),
    "ring of three points": (ring(0, 0, 1, 0, 0, 0), "point"),
    "ring without area": (ring(0, 0, 1, 0, 2, 0, 0, 0), "elf-intersection|Invalid|area"),
    "collection": (wkt("GEOMETRYCOLLECTION (POINT (1 1))"), "(?i)geometry ?collection"),
    "collection of nothing": (wkt("GEOMETRYCOLLECTION EMPTY"), "(?i)collection|empty"),
    "NaN": (point(1, math.nan), "(?i)nan|number|finite"),
    "NaN in a line": (line(0, 0, math.nan, 1), "(?i)nan|number|finite"),
    "NaN in a ring": (ring(0, 0, 1, 0, 1, math.nan, 0, 0), "(?i)nan|number|finite"),
    "infinite": (point(math.inf, 0), "(?i)inf"),
    "infinite in a ring": (ring(0, 0, 1, 0, 1, math.inf, 0, 0), "(?i)inf"),
    "longitude too large": (point(180.0000001, 0), "180"),
    "longitude too small": (point(-181, 0), "180"),
    "latitude too large": (point(0, 90.5), "90"),
    "latitude too small": (line(0, 0, 0, -91), "90"),
    "projected coordinates": (point(530_000, 180_000), "180"),
}


def matched(matches: pa.Table) -> dict[str, list[str]]:
    return {row["publication"]: row["subscriptions"] for row in matches.to_pylist()}


def only(rejects: Rejects) -> Reject:
    (reject,) = rejects
    return reject


def assert_readable(reason: str) -> None:
    assert reason
    assert "\n" not in reason
    assert len(reason) < 300
    assert "Traceback" not in reason
    assert "Exception" not in reason


@pytest.mark.parametrize("name", BAD_GEOMETRIES)
def test_a_publication_with_a_bad_geometry(name: str) -> None:
    geometry, reason = BAD_GEOMETRIES[name]
    table = pa.table(
        {
            "id": ["a", "bad", "c"],
            "geometry": pa.array([INSIDE, geometry, INSIDE], pa.binary()),
        }
    )
    rejects = Rejects()
    matcher = geocast.Matcher(pa.table({"id": ["s"], "geometry": [SQUARE]}))
    matches = matcher.match(table, rejects=rejects)
    assert matched(matches) == {"a": ["s"], "c": ["s"]}
    reject = only(rejects)
    assert (reject.side, reject.row, reject.id) == ("publications", 1, "bad")
    assert_readable(reject.reason)
    assert_says(reject.reason, reason)


@pytest.mark.parametrize("name", BAD_GEOMETRIES)
def test_a_subscription_with_a_bad_geometry(name: str) -> None:
    geometry, reason = BAD_GEOMETRIES[name]
    table = pa.table(
        {
            "id": ["a", "bad", "c"],
            "geometry": pa.array([SQUARE, geometry, SQUARE], pa.binary()),
            "predicate": ["within", "intersects", "disjoint"],
        }
    )
    matcher = geocast.Matcher(table)
    matches = matcher.match(pa.table({"id": ["p"], "geometry": [INSIDE]}))
    assert matched(matches) == {"p": ["a"]}
    reject = only(matcher.rejects)
    assert (reject.side, reject.row, reject.id) == ("subscriptions", 1, "bad")
    assert_readable(reject.reason)
    assert_says(reject.reason, reason)


def assert_says(reason: str, pattern: str) -> None:
    assert re.search(pattern, reason), reason


def test_a_null_geometry_of_a_publication() -> None:
    rejects = Rejects()
    table = pa.table({"id": ["p", "q"], "geometry": pa.array([None, INSIDE], pa.binary())})
    matcher = geocast.Matcher(pa.table({"id": ["s"], "geometry": [SQUARE]}))
    assert matched(matcher.match(table, rejects=rejects)) == {"q": ["s"]}
    reject = only(rejects)
    assert (reject.row, reject.id) == (0, "p")
    assert "geometry" in reject.reason


SUBSCRIPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown predicate": ({"geometry": SQUARE, "predicate": "near"}, "near.*intersects"),
    "bad CQL2": ({"filter": "mag >"}, "position|expected"),
    "unknown function": ({"filter": "S_NEAR(geometry, POINT(0 0))"}, "(?i)s_near"),
    "mixed types": ({"filter": "mag > 1 AND 1 = 'x'"}, "compare"),
    "bad CQL2 beside a geometry": ({"geometry": SQUARE, "filter": "(mag"}, "position|expected"),
    "bad geometry in CQL2": (
        {"filter": "S_WITHIN(geometry, POLYGON((0 0, 1 1, 1 0, 0 1, 0 0)))"},
        "elf-intersection",
    ),
    "too deep": ({"filter": "(" * 200 + "a = 1" + ")" * 200}, "(?i)deep|nest"),
    "too many filters": (
        {"filter": " AND ".join(f"(a{k} = 1 OR b{k} = 1)" for k in range(11))},
        "1,?000",
    ),
    "empty filter": ({"filter": "  "}, "filter"),
    "neither geometry nor filter": ({}, "geometry.*filter|filter.*geometry"),
    "predicate of a lost geometry": ({"predicate": "within", "filter": "mag > 1"}, "no geometry"),
    "a predicate alone": ({"predicate": "within"}, "geometry"),
    "duplicate id": ({"id": "good", "geometry": SQUARE}, "good|id|twice|before"),
    "no id": ({"id": None, "geometry": SQUARE}, "id"),
}


@pytest.mark.parametrize("name", SUBSCRIPTIONS)
def test_a_bad_subscription(name: str) -> None:
    fields, reason = SUBSCRIPTIONS[name]
    bad = {"id": "bad", "geometry": None, "predicate": None, "filter": None} | fields
    good = {"id": "good", "geometry": SQUARE, "predicate": None, "filter": None}
    last = {"id": "last", "geometry": None, "predicate": None, "filter": "mag > 1"}
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("geometry", pa.binary()),
            ("predicate", pa.string()),
            ("filter", pa.string()),
        ]
    )
    matcher = geocast.Matcher(pa.Table.from_pylist([good, bad, last], schema=schema))
    reject = only(matcher.rejects)
    assert (reject.side, reject.row, reject.id) == ("subscriptions", 1, bad["id"])
    assert_readable(reject.reason)
    assert_says(reject.reason, reason)
    publications = pa.table({"id": ["p"], "geometry": [INSIDE], "mag": [2.0]})
    assert matched(matcher.match(publications)) == {"p": ["good", "last"]}


def test_a_predicate_in_any_case_is_known() -> None:
    table = pa.table({"id": ["s"], "geometry": [SQUARE], "predicate": ["Within"]})
    matcher = geocast.Matcher(table)
    assert list(matcher.rejects) == []


def test_publications_with_the_same_id() -> None:
    subscriptions = pa.table({"id": ["s"], "geometry": [SQUARE]})
    publications = pa.table({"id": ["p", "q", "p"], "geometry": [INSIDE] * 3})
    rejects = Rejects()
    matches = geocast.match(subscriptions, publications, rejects=rejects)
    assert matched(matches) == {"p": ["s"], "q": ["s"]}
    assert len(matches) == 2
    reject = only(rejects)
    assert (reject.side, reject.row, reject.id) == ("publications", 2, "p")
    assert_readable(reject.reason)


def test_a_publication_without_an_id() -> None:
    rejects = Rejects()
    subscriptions = pa.table({"id": ["s"], "geometry": [SQUARE]})
    table = pa.table({"id": pa.array([None, "q"], pa.string()), "geometry": [INSIDE] * 2})
    matches = geocast.match(subscriptions, table, rejects=rejects)
    assert matched(matches) == {"q": ["s"]}
    reject = only(rejects)
    assert (reject.row, reject.id) == (0, None)
    assert "id" in reject.reason


GOOD_SUBSCRIPTIONS = pa.table({"id": ["s"], "geometry": [SQUARE]})
GOOD_PUBLICATIONS = pa.table({"id": ["p"], "geometry": [INSIDE]})


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"geometry": [SQUARE]}, "id"),
        ({"id": ["s"]}, "geometry"),
        ({"id": [1.5], "geometry": [SQUARE]}, "id"),
        ({"id": ["s"], "geometry": ["POINT (1 1)"]}, "geometry"),
        ({"id": ["s"], "geometry": [1]}, "geometry"),
        ({"id": ["s"], "geometry": [SQUARE], "predicate": [1]}, "predicate"),
        ({"id": ["s"], "filter": [1]}, "filter"),
    ],
)
def test_subscriptions_with_missing_or_wrong_columns(columns: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        geocast.match(pa.table(columns), GOOD_PUBLICATIONS)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"geometry": [INSIDE]}, "id"),
        ({"id": ["p"]}, "geometry"),
        ({"id": [[1]], "geometry": [INSIDE]}, "id"),
        ({"id": ["p"], "geometry": ["POINT (1 1)"]}, "geometry"),
        ({"id": ["p"], "geometry": [1.0]}, "geometry"),
    ],
)
def test_publications_with_missing_or_wrong_columns(columns: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        geocast.match(GOOD_SUBSCRIPTIONS, pa.table(columns))


def test_everything_bad_gives_no_matches_and_all_rejects() -> None:
    geometries = pa.array([geometry for geometry, _ in BAD_GEOMETRIES.values()], pa.binary())
    ids = list(BAD_GEOMETRIES)
    rejects = Rejects()
    table = pa.table({"id": ids, "geometry": geometries})
    matches = geocast.match(table, table, rejects=rejects)
    assert len(matches) == 0
    for side in ("subscriptions", "publications"):
        assert [reject.id for reject in rejects if reject.side == side] == ids
        assert [reject.row for reject in rejects if reject.side == side] == list(range(len(ids)))


def test_repeated_bad_geometries_are_all_reported() -> None:
    rejects = Rejects()
    table = pa.table({"id": ["a", "b", "c"], "geometry": [b"no", INSIDE, b"no"]})
    geocast.match(GOOD_SUBSCRIPTIONS, table, rejects=rejects)
    assert [(reject.row, reject.id) for reject in rejects] == [(0, "a"), (2, "c")]


def test_points_at_the_very_edge_of_the_world_are_good() -> None:
    world = shapely.box(-180, -90, 180, 90).wkb
    corners = [point(x, y) for x in (-180, 180) for y in (-90, 90)]
    table = pa.table({"id": [str(k) for k in range(4)], "geometry": corners})
    matches = geocast.match(pa.table({"id": ["s"], "geometry": [world]}), table)
    assert len(matches) == 4


@pytest.mark.parametrize("given", ["subscriptions.geojson", {"id": ["a"]}, None])
def test_what_is_no_table_is_refused(given: object) -> None:
    good = pa.table({"id": ["a"], "geometry": [shapely.to_wkb(shapely.Point(0, 0))]})
    with pytest.raises(InputError, match="subscriptions must be an Arrow table, not"):
        geocast.match(given, good)
    with pytest.raises(InputError, match="publications must be an Arrow table, not"):
        geocast.Matcher(good).match(given)
