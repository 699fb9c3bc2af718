"""The area of a subscription, as it is written on the command line."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Final

import orjson
import shapely

from geocast.client.features import geometry_of
from geocast.errors import InputError

__all__ = ["read_area"]

_WKT: Final = re.compile(
    r"\s*(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION)\b\s*"
    r"(Z|M|ZM)?\s*(\(|EMPTY)",
    re.IGNORECASE,
)


def read_area(geometry: str | None, bbox: str | None) -> dict[str, Any] | None:
    """Return the area as GeoJSON, None where none is given; raises InputError.

    `geometry` is WKT, GeoJSON, or the path of a file with one feature; `bbox` is W,S,E,N.
    """
    if geometry is not None and bbox is not None:
        raise InputError("--geometry and --bbox: only one of them can be given")
    if bbox is not None:
        return _box(bbox)
    if geometry is None:
        return None
    if geometry.lstrip().startswith("{"):
        return _single(_json(geometry.encode(), "--geometry"), "--geometry")
    if _WKT.match(geometry):
        return _wkt(geometry)
    return _file(Path(geometry))


def _box(text: str) -> dict[str, Any]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--bbox {text!r}: four numbers W,S,E,N are expected") from None
    if not all(map(math.isfinite, (west, south, east, north))):
        raise InputError(f"--bbox {text!r}: a number is not finite")
    if west >= east or south >= north:
        raise InputError(f"--bbox {text!r}: W must be less than E, and S less than N")
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


def _wkt(text: str) -> dict[str, Any]:
    try:
        found = shapely.from_wkt(text)
    except shapely.errors.GEOSException as error:
        raise InputError(f"--geometry: not WKT: {error}") from None
    geometry: dict[str, Any] = orjson.loads(shapely.to_geojson(found))
    return geometry


def _file(path: Path) -> dict[str, Any]:
    from geocast.cli.talk.features import read_features
    from geocast.files import Format, format_of
    from geocast.files.formats import open_error

    if format_of(path) is Format.COLLECTION:
        try:
            return _single(_json(path.read_bytes(), str(path)), str(path))
        except OSError as error:
            raise open_error(path, error) from error
    features = [feature for batch in read_features(str(path)) for feature in batch.features]
    plain = orjson.loads(orjson.dumps({"features": features}))
    return _single({"type": "FeatureCollection", **plain}, str(path))


def _json(text: bytes, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON: {error}") from None


def _single(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, dict) and value.get("type") == "FeatureCollection":
        found = value.get("features")
        features = found if isinstance(found, list) else []
        if len(features) != 1:
            raise InputError(f"{where}: has {len(features)} features; one is needed")
        value = features[0]
    try:
        return geometry_of(value)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
