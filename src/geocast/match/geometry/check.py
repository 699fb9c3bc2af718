"""What is wrong with a geometry, in words; and the plain form of one that is only unusual.

Kernels read plain WKB. Everything else comes here, one by one, because it is rare: other byte
orders and dimensions are brought to plain WKB, the rest gets a reason that a person understands.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

__all__ = ["geos_faults", "plain_or_reason"]

_SUPPORTED = ("Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon")


def plain_or_reason(wkb: bytes | None) -> tuple[bytes, str]:
    """Return (plain WKB, "") for a usable geometry, or (b"", the reason) for one that is not."""
    if wkb is None:
        return b"", "geometry is null"
    try:
        with np.errstate(invalid="ignore"):  # GEOS compares coordinates that may be NaN
            geometry = shapely.from_wkb(wkb)
    except shapely.errors.GEOSException as error:
        return b"", f"geometry is not readable WKB: {_first_line(error)}"
    except NotImplementedError:
        return b"", f"a curved geometry is not supported; there are: {', '.join(_SUPPORTED)}"
    reason = _fault(geometry)
    if reason:
        return b"", reason
    return shapely.to_wkb(shapely.force_2d(_without_empty_parts(geometry)), byte_order=1), ""


def _first_line(error: Exception) -> str:
    return re.sub(r"^\w*Exception: ", "", str(error).splitlines()[0])


def _fault(geometry: shapely.Geometry) -> str:
    if geometry.geom_type not in _SUPPORTED:
        return f"a {geometry.geom_type} is not supported; there are: {', '.join(_SUPPORTED)}"
    if geometry.is_empty:
        return f"geometry is an empty {geometry.geom_type}"
    coordinate = _coordinate_fault(shapely.get_coordinates(geometry))
    if coordinate:
        return coordinate
    return _validity_fault(geometry)


def _coordinate_fault(xy: NDArray[np.float64]) -> str:
    for axis, name, most in ((0, "longitude", 180), (1, "latitude", 90)):
        bad = np.flatnonzero(~(np.abs(xy[:, axis]) <= most))
        if len(bad):
            value, vertex = xy[bad[0], axis], bad[0]
            if not np.isfinite(value):
                return f"{name} of vertex {vertex} is not a number: {value}"
            return f"{name} {value!s} of vertex {vertex} is outside [-{most}, {most}]"
    return ""


def _validity_fault(geometry: shapely.Geometry) -> str:
    reason = shapely.is_valid_reason(geometry)
    return "" if reason == "Valid Geometry" else f"geometry is not valid: {reason}"


def _without_empty_parts(geometry: shapely.Geometry) -> shapely.Geometry:
    """Drop parts without a point, which GEOS allows in a multi-geometry."""
    if not geometry.geom_type.startswith("Multi"):
        return geometry
    parts = shapely.get_parts(geometry)
    kept = parts[~shapely.is_empty(parts)]
    return geometry if len(kept) == len(parts) else type(geometry)(list(kept))


def geos_faults(wkb: NDArray[Any]) -> list[str]:
    """Return for plain WKB the reason why GEOS calls it invalid, or "" if it is valid."""
    geometries = shapely.from_wkb(wkb)
    valid = shapely.is_valid(geometries)
    return ["" if ok else _validity_fault(g) for ok, g in zip(valid, geometries, strict=True)]
