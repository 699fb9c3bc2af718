"""Geometry literals: read, checked, and brought to the one form that constraints carry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import shapely

from geocast.errors import FilterSyntaxError, FilterTypeError
from geocast.language.tree import Shape
from geocast.language.where import Where, refuse, refuse_depth
from geocast.model import Predicate

__all__ = ["from_bounds", "from_geojson", "from_wkt", "relation_holds"]

_SUPPORTED = frozenset(
    {"Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"}
)


def from_wkt(text: str, where: Where) -> Shape:
    """Read well-known text; heights and measures are dropped."""
    try:
        geometry = shapely.from_wkt(text)
    except shapely.errors.ShapelyError as problem:
        refuse(FilterSyntaxError, f"not a geometry: {_first_line(problem)}", where)
    return _checked(geometry, where)


def from_geojson(value: Mapping[str, Any], where: Where) -> Shape:
    """Read a GeoJSON geometry; heights are dropped."""
    kind = value.get("type")
    if kind == "GeometryCollection":
        refuse(FilterTypeError, "a GeometryCollection cannot be matched", where)
    if kind not in _SUPPORTED:
        refuse(FilterSyntaxError, f"not a GeoJSON geometry: its type is {kind!r}", where)
    try:
        bare = {"type": kind, "coordinates": value.get("coordinates")}
        geometry = shapely.from_geojson(json.dumps(bare, allow_nan=False))
    except (shapely.errors.ShapelyError, TypeError, ValueError) as problem:
        refuse(FilterSyntaxError, f"not a GeoJSON geometry: {_first_line(problem)}", where)
    except RecursionError:
        refuse_depth(where)
    return _checked(geometry, where)


def from_bounds(numbers: Sequence[int | float], where: Where) -> Shape:
    """Build the box of four numbers, or of six with heights, which are dropped.

    West greater than east means a box across the antimeridian, as in GeoJSON.
    """
    if len(numbers) not in (4, 6):
        refuse(FilterSyntaxError, f"BBOX takes 4 or 6 numbers, not {len(numbers)}", where)
    west, south, east, north = (
        numbers[i] for i in ((0, 1, 2, 3) if len(numbers) == 4 else (0, 1, 3, 4))
    )
    if south >= north or west == east:
        refuse(FilterTypeError, "the BBOX has no area", where)
    spans = [(west, east)] if west < east else [(west, 180), (-180, east)]
    boxes = [shapely.box(left, south, right, north) for left, right in spans if left < right]
    return _checked(boxes[0] if len(boxes) == 1 else shapely.multipolygons(boxes), where)


def relation_holds(predicate: Predicate, left: Shape, right: Shape) -> bool:
    """Decide a predicate between two literals."""
    name = "covered_by" if predicate is Predicate.COVEREDBY else predicate.label
    return bool(getattr(shapely, name)(*shapely.from_wkb([left.wkb, right.wkb])))


def _checked(geometry: Any, where: Where) -> Shape:
    """Refuse what cannot be matched, and return the two-dimensional WKB of the rest."""
    if geometry.geom_type not in _SUPPORTED:
        refuse(FilterTypeError, f"a {geometry.geom_type} cannot be matched", where)
    if geometry.is_empty:
        refuse(FilterTypeError, f"the {geometry.geom_type} is empty", where)
    flat = shapely.force_2d(geometry)
    coordinates = shapely.get_coordinates(flat)
    if not np.isfinite(coordinates).all():
        refuse(FilterTypeError, "a coordinate is not a finite number", where)
    outside = np.abs(coordinates) > (180, 90)
    if outside.any():
        x, y = coordinates[outside.any(axis=1).argmax()]
        refuse(FilterTypeError, f"({x:g} {y:g}) is not a longitude and latitude in degrees", where)
    if not shapely.is_valid(flat):
        refuse(FilterTypeError, f"invalid geometry: {shapely.is_valid_reason(flat)}", where)
    return Shape(_plain_wkb(flat, coordinates))


def _plain_wkb(geometry: Any, coordinates: np.ndarray[Any, Any]) -> bytes:
    """Encode with every -0.0 as 0.0, so that equal geometries have equal bytes."""
    if (np.signbit(coordinates) & (coordinates == 0)).any():
        geometry = shapely.set_coordinates(geometry, coordinates + 0.0)
    wkb: bytes = shapely.to_wkb(geometry, output_dimension=2, byte_order=1, include_srid=False)
    return wkb


def _first_line(problem: Exception) -> str:
    line = str(problem).strip().split("\n")[0]
    return line.removeprefix("ParseException: ") or type(problem).__name__
