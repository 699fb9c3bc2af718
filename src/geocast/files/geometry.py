"""GeoJSON geometries to WKB, one at a time, without a geometry object in between.

The nested lists that a JSON parser returns are flattened by C-level iteration and packed as
they are, which is several times faster than printing them as text again for a geometry
library, keeps every double bit by bit, and lets a refusal name the very position that is
wrong. Only the form is judged here; whether a shape is valid, empty or out of range is the
matcher's business.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from itertools import chain
from typing import Any

__all__ = ["BadGeometryError", "geometry_to_wkb", "json_kind"]

_MAX_COLLECTION_DEPTH = 32
_HEADER = struct.Struct("<BII")
_POINT = struct.Struct("<BIdd")
_COUNT = struct.Struct("<I")
_NAN = float("nan")
_NUMBERS = frozenset((int, float))


class BadGeometryError(ValueError):
    """The JSON is not a GeoJSON geometry; the message says where and why."""


def geometry_to_wkb(geometry: Any) -> bytes:
    """Return a parsed GeoJSON geometry as 2-D little-endian WKB.

    Altitudes (a third number of a position) are dropped. Empty `coordinates` give the empty
    geometry of that type, as does a polygon's `[[]]`, which is how GEOS writes one.
    Raises BadGeometryError with a reason for people.
    """
    return _encode(geometry, 0)


def _encode(geometry: Any, depth: int) -> bytes:
    if not isinstance(geometry, dict):
        raise BadGeometryError(f"the geometry is {json_kind(geometry)}, not an object")
    name = geometry.get("type")
    if name == "GeometryCollection":
        return _collection(geometry, depth)
    encoder = _ENCODERS.get(name) if isinstance(name, str) else None
    if encoder is None:
        raise BadGeometryError(_unknown_type(geometry))
    coordinates = geometry.get("coordinates")
    if not isinstance(coordinates, list):
        raise BadGeometryError(f"{name} without a `coordinates` array")
    return encoder(coordinates)


def _unknown_type(geometry: dict[str, Any]) -> str:
    if "type" not in geometry:
        return "the geometry has no `type`"
    return f"unknown geometry type {geometry['type']!r}; there are: {', '.join(_ENCODERS)}"


def _collection(geometry: dict[str, Any], depth: int) -> bytes:
    members = geometry.get("geometries")
    if not isinstance(members, list):
        raise BadGeometryError("GeometryCollection without a `geometries` array")
    if depth == _MAX_COLLECTION_DEPTH:
        raise BadGeometryError(f"GeometryCollections nested beyond {_MAX_COLLECTION_DEPTH} levels")
    return _HEADER.pack(1, 7, len(members)) + b"".join(_encode(m, depth + 1) for m in members)


def _point(coordinates: list[Any]) -> bytes:
    if not coordinates:
        return _POINT.pack(1, 1, _NAN, _NAN)
    x, y = _flatten([coordinates], None)
    return _POINT.pack(1, 1, x, y)


def _line(coordinates: list[Any], where: str = "coordinates") -> bytes:
    if len(coordinates) == 1:
        raise BadGeometryError(f"{where} has 1 position; a line needs at least 2")
    flat = _flatten(coordinates, where)
    return _HEADER.pack(1, 2, len(coordinates)) + array("d", flat).tobytes()


def _polygon(coordinates: list[Any], where: str = "coordinates") -> bytes:
    if coordinates == [[]]:
        return _HEADER.pack(1, 3, 0)
    rings = [_ring(ring, f"{where}[{i}]") for i, ring in enumerate(coordinates)]
    return _HEADER.pack(1, 3, len(rings)) + b"".join(rings)


def _ring(ring: Any, where: str) -> bytes:
    if not isinstance(ring, list):
        raise BadGeometryError(f"{where} is {json_kind(ring)}, not a ring (an array of positions)")
    flat = _flatten(ring, where)
    if len(ring) < 4:
        raise BadGeometryError(f"ring {where} has {len(ring)} positions; a ring needs at least 4")
    if flat[:2] != flat[-2:]:
        raise BadGeometryError(f"ring {where} is not closed: its first and last positions differ")
    return _COUNT.pack(len(ring)) + array("d", flat).tobytes()


def _multipoint(coordinates: list[Any]) -> bytes:
    flat = _flatten(coordinates, "coordinates")
    points = (_POINT.pack(1, 1, x, y) for x, y in zip(flat[::2], flat[1::2], strict=True))
    return _HEADER.pack(1, 4, len(coordinates)) + b"".join(points)


def _multi(number: int, part: Callable[[list[Any], str], bytes], name: str) -> Any:
    def encode(coordinates: list[Any]) -> bytes:
        parts = []
        for i, member in enumerate(coordinates):
            where = f"coordinates[{i}]"
            if not isinstance(member, list):
                raise BadGeometryError(f"{where} is {json_kind(member)}, not a {name} (an array)")
            if not member:
                raise BadGeometryError(f"{where} is an empty {name}")
            parts.append(part(member, where))
        return _HEADER.pack(1, number, len(parts)) + b"".join(parts)

    return encode


def _flatten(positions: list[Any], where: str | None) -> list[float]:
    """Return x, y, x, y... of an array of positions; `where` is None for a Point's single one."""
    try:
        lengths = set(map(len, positions))
        flat = list(chain.from_iterable(positions))
    except TypeError:
        raise BadGeometryError(_explain(positions, where)) from None
    if not _NUMBERS.issuperset(map(type, flat)) or (lengths and min(lengths) < 2):
        raise BadGeometryError(_explain(positions, where))
    if lengths - {2}:
        flat = list(chain.from_iterable(position[:2] for position in positions))
    return flat


def _explain(positions: list[Any], where: str | None) -> str:
    """Say which position is the first bad one, and why."""
    for i, position in enumerate(positions):
        place = "coordinates" if where is None else f"{where}[{i}]"
        if not isinstance(position, list):
            return f"{place} is {json_kind(position)}, not a position (two numbers)"
        bad = next((value for value in position if type(value) not in _NUMBERS), None)
        if isinstance(bad, list):
            return f"{place} is nested too deeply: a position (two numbers) belongs there"
        if any(type(value) not in _NUMBERS for value in position):
            return f"{place} holds {json_kind(bad)}; a position is two numbers"
        if len(position) < 2:
            return f"{place} has {len(position)} of the two numbers of a position"
    return f"{where or 'coordinates'} is not an array of positions"


def json_kind(value: Any) -> str:
    """Return what a JSON value is, with its article, as a message names it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "an array" if isinstance(value, list) else "an object"


_ENCODERS: dict[str, Callable[[list[Any]], bytes]] = {
    "Point": _point,
    "LineString": _line,
    "Polygon": _polygon,
    "MultiPoint": _multipoint,
    "MultiLineString": _multi(5, _line, "line"),
    "MultiPolygon": _multi(6, _polygon, "polygon"),
}
