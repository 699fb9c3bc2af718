"""What a GeoParquet file's metadata say, and the metadata of one that is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from geocast.errors import InputError
from geocast.files.crs import check_projjson

__all__ = ["check_native", "geo_metadata", "geometry_column"]

_PLANAR_ONLY = "only straight edges in lon/lat (planar) are understood"
_TYPE_NAMES = {
    1: "Point",
    2: "LineString",
    3: "Polygon",
    4: "MultiPoint",
    5: "MultiLineString",
    6: "MultiPolygon",
    7: "GeometryCollection",
}


def geometry_column(names: list[str], geo: bytes | None, path: Path) -> str | None:
    """Return the name of the geometry column: the primary one, else `geometry`, else None.

    `geo` is the value of the file's metadata key of that name. Raises InputError where it
    says that the coordinates cannot be used: another reference system, another encoding than
    WKB, or edges that are not straight in lon/lat.
    """
    if geo is None:
        return "geometry" if "geometry" in names else None
    try:
        parsed = orjson.loads(geo)
        name = parsed["primary_column"]
        described = parsed["columns"][name]
        _check_described(described, path)
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):
        raise InputError(f"{path}: its GeoParquet metadata (key `geo`) are damaged") from None
    if name not in names:
        raise InputError(f"{path}: its primary geometry column {name!r} does not exist")
    return str(name)


def _check_described(described: dict[str, Any], path: Path) -> None:
    encoding = described.get("encoding", "WKB")
    if encoding != "WKB":
        raise InputError(f"{path}: geometries are encoded as {encoding}; only WKB is understood")
    check_projjson(described.get("crs"), path)
    types = described.get("geometry_types") or ["unknown"]
    if described.get("edges", "planar") != "planar" and not set(types) <= {"Point", "MultiPoint"}:
        raise InputError(f"{path}: its edges are {described['edges']}; {_PLANAR_ONLY}")


def check_native(logical: str, path: Path) -> None:
    """Raise InputError where a column's own Parquet type, as JSON, says the like.

    Parquet's GEOMETRY may name a reference system; GEOGRAPHY has edges on the sphere.
    """
    described = orjson.loads(logical)
    if described.get("Type") == "Geography":
        raise InputError(f"{path}: its edges are spherical (GEOGRAPHY); {_PLANAR_ONLY}")
    if described.get("Type") == "Geometry":
        check_projjson(described.get("crs"), path)


def geo_metadata(
    type_codes: set[int], bounds: tuple[float, float, float, float] | None
) -> dict[str, str]:
    """Return the GeoParquet 1.1 key-value metadata for a WKB column `geometry` in OGC:CRS84."""
    described: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": [_TYPE_NAMES[code] for code in sorted(type_codes)],
    }
    if bounds is not None:
        described["bbox"] = list(bounds)
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": described}}
    return {"geo": orjson.dumps(geo).decode()}
