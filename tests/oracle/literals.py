"""Literals of CQL2: geometries, instants and intervals."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import shapely
from shapely.geometry import shape

from tests.oracle.lexer import TextError

__all__ = ["Instant", "Interval", "geometry_from", "geometry_value", "read_instant"]

Instant = dt.date | dt.datetime

_JSON_NAMES = {
    "POINT": "Point",
    "LINESTRING": "LineString",
    "POLYGON": "Polygon",
    "MULTIPOINT": "MultiPoint",
    "MULTILINESTRING": "MultiLineString",
    "MULTIPOLYGON": "MultiPolygon",
}


@dataclass(frozen=True)
class Interval:
    """A closed interval; None is an open end."""

    start: Instant | None
    end: Instant | None


def geometry_from(tag: str, nested: list[Any]) -> dict[str, Any]:
    """GeoJSON (or a bbox object) from a WKT tag and its nested lists of numbers."""
    if tag == "BBOX":
        numbers = [number for (number,) in nested]
        if len(numbers) not in (4, 6):
            raise TextError(f"BBOX has four or six numbers, not {len(numbers)}")
        return {"bbox": numbers}
    if tag == "GEOMETRYCOLLECTION":
        return {"type": "GeometryCollection", "geometries": nested}
    if tag not in _JSON_NAMES:
        raise TextError(f"unknown geometry {tag}")
    if tag == "POINT":
        (nested,) = nested
    if tag == "MULTIPOINT":
        nested = [point[0] if isinstance(point[0], list) else point for point in nested]
    return {"type": _JSON_NAMES[tag], "coordinates": nested}


def geometry_value(literal: dict[str, Any]) -> Any:
    """The shapely geometry of GeoJSON or of a bbox object, without its third dimension."""
    if "bbox" not in literal:
        return shapely.force_2d(shape(literal))
    numbers = literal["bbox"]
    half = len(numbers) // 2
    (west, south), (east, north) = numbers[:2], numbers[half : half + 2]
    if west <= east:
        return shapely.box(west, south, east, north)
    return shapely.union(
        shapely.box(west, south, 180, north), shapely.box(-180, south, east, north)
    )


def read_instant(text: str) -> Instant | None:
    """The date or UTC timestamp of an RFC 3339 string, or None if it is neither."""
    try:
        if len(text) == 10:
            return dt.date.fromisoformat(text)
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(dt.UTC) if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
