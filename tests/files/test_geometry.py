from __future__ import annotations

import json
from typing import Any

import pytest
import shapely
from hypothesis import given

from geocast.files.geometry import BadGeometryError, geometry_to_wkb
from tests.files.samples import GEOMETRIES, geometries


@given(geometries)
def test_the_bytes_are_those_of_the_geometry_library(geometry: dict[str, Any]) -> None:
    expected = shapely.to_wkb(shapely.from_geojson(json.dumps(geometry)), byte_order=1)
    assert geometry_to_wkb(geometry) == expected


@pytest.mark.parametrize("name", GEOMETRIES)
def test_altitudes_are_dropped(name: str) -> None:
    flat = {"type": name, "coordinates": GEOMETRIES[name]}
    high = {"type": name, "coordinates": _with_altitude(GEOMETRIES[name])}
    assert geometry_to_wkb(high) == geometry_to_wkb(flat)


def _with_altitude(value: list[Any]) -> list[Any]:
    return [*value, 7] if not isinstance(value[0], list) else [_with_altitude(v) for v in value]


@pytest.mark.parametrize("name", GEOMETRIES)
def test_empty_coordinates_give_the_empty_geometry(name: str) -> None:
    found = shapely.from_wkb(geometry_to_wkb({"type": name, "coordinates": []}))
    assert found.is_empty
    assert found.geom_type == name


def test_a_polygon_of_one_empty_ring_is_empty() -> None:
    assert shapely.from_wkb(geometry_to_wkb({"type": "Polygon", "coordinates": [[]]})).is_empty


def test_a_collection_is_encoded_with_its_members() -> None:
    members = [{"type": name, "coordinates": c} for name, c in GEOMETRIES.items()]
    geometry = {"type": "GeometryCollection", "geometries": members}
    expected = shapely.from_geojson(json.dumps(geometry))
    assert geometry_to_wkb(geometry) == shapely.to_wkb(expected, byte_order=1)


_RING = [[0, 0], [1, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("name", "coordinates", "said"),
    [
        ("Point", [1], "coordinates has 1 of the two numbers of a position"),
        ("Point", [1, "2"], "coordinates holds the text '2'; a position is two numbers"),
        ("Point", [1, None], "coordinates holds null; a position is two numbers"),
        ("Point", [1, True], "coordinates holds true; a position is two numbers"),
        ("Point", [1, 2, "up"], "coordinates holds the text 'up'; a position is two numbers"),
        ("Point", [[1, 2]], "coordinates is nested too deeply: a position"),
        ("LineString", [[0, 0]], "coordinates has 1 position; a line needs at least 2"),
        ("LineString", [1, 2], "coordinates[0] is the number 1, not a position"),
        ("LineString", [[0, 0], [1]], "coordinates[1] has 1 of the two numbers"),
        ("LineString", ["ab", "cd"], "coordinates[0] is the text 'ab', not a position"),
        ("LineString", [{"x": 1, "y": 2}, [1, 1]], "coordinates[0] is an object, not a position"),
        ("Polygon", [[0, 0], [1, 0], [1, 1]], "coordinates[0][0] is the number 0, not a position"),
        ("Polygon", [_RING[:3]], "ring coordinates[0] has 3 positions; a ring needs at least 4"),
        ("Polygon", [_RING, [*_RING[:3], [9, 9]]], "ring coordinates[1] is not closed"),
        ("Polygon", [_RING, []], "ring coordinates[1] has 0 positions"),
        ("Polygon", [5], "coordinates[0] is the number 5, not a ring"),
        ("Polygon", [[_RING]], "coordinates[0][0] is nested too deeply"),
        ("MultiPoint", [[]], "coordinates[0] has 0 of the two numbers"),
        ("MultiPoint", [1, 2], "coordinates[0] is the number 1, not a position"),
        ("MultiLineString", [[[0, 0]]], "coordinates[0] has 1 position"),
        ("MultiLineString", [[]], "coordinates[0] is an empty line"),
        ("MultiPolygon", [[]], "coordinates[0] is an empty polygon"),
        ("MultiPolygon", [None], "coordinates[0] is null, not a polygon (an array)"),
        ("MultiPolygon", [[_RING], [[[0, 0], [1, 0], [1, "a"], [0, 0]]]], "coordinates[1][0][2]"),
    ],
)
def test_a_bad_geometry_says_where_and_why(name: str, coordinates: Any, said: str) -> None:
    with pytest.raises(BadGeometryError) as caught:
        geometry_to_wkb({"type": name, "coordinates": coordinates})
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("geometry", "said"),
    [
        ("POINT (1 2)", "the geometry is the text 'POINT (1 2)', not an object"),
        ([1, 2], "the geometry is an array, not an object"),
        ({}, "the geometry has no `type`"),
        ({"type": "Circle"}, "unknown geometry type 'Circle'; there are: Point, LineString"),
        ({"type": ["Point"]}, "unknown geometry type ['Point']"),
        ({"type": "Point"}, "Point without a `coordinates` array"),
        ({"type": "Point", "coordinates": "1,2"}, "Point without a `coordinates` array"),
        ({"type": "GeometryCollection"}, "GeometryCollection without a `geometries` array"),
    ],
)
def test_what_is_no_geometry_is_refused(geometry: Any, said: str) -> None:
    with pytest.raises(BadGeometryError) as caught:
        geometry_to_wkb(geometry)
    assert str(caught.value).startswith(said)


def test_collections_are_not_followed_for_ever() -> None:
    geometry: dict[str, Any] = {"type": "GeometryCollection", "geometries": []}
    for _ in range(40):
        geometry = {"type": "GeometryCollection", "geometries": [geometry]}
    with pytest.raises(BadGeometryError, match="nested beyond 32 levels"):
        geometry_to_wkb(geometry)
