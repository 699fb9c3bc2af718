"""The check that coordinates are lon/lat on WGS 84, the only system that is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geocast.errors import InputError

__all__ = ["check_named_crs", "check_projjson"]

_CODES = {"CRS84", "CRS84H", "4326", "4979"}
_AUTHORITIES = {"OGC", "EPSG", "SRID"}
_NAMES = {"CRS84", "WGS84", "WGS 84", "WGS 84 (CRS84)", "WGS 84 LONGITUDE-LATITUDE"}


def check_named_crs(member: Any, path: Path) -> None:
    """Raise InputError if the `crs` member of an old GeoJSON file names another system."""
    if member is None:
        return
    properties = member.get("properties") if isinstance(member, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if not isinstance(name, str) or not is_lon_lat(name):
        raise _refusal(path, str(name) if name is not None else "one without a name")


def check_projjson(crs: Any, path: Path) -> None:
    """Raise InputError if a GeoParquet `crs`, PROJJSON or its name, is another system."""
    if crs in (None, "") or (isinstance(crs, str) and is_lon_lat(crs)):
        return
    if not isinstance(crs, dict):
        raise _refusal(path, str(crs))
    identifier = crs.get("id")
    name = str(crs.get("name", "one without a name"))
    if isinstance(identifier, dict):
        code = f"{identifier.get('authority')}:{identifier.get('code')}"
        if not is_lon_lat(code):
            raise _refusal(path, f"{code} ({name})")
    elif not is_lon_lat(name):
        raise _refusal(path, name)


def is_lon_lat(name: str) -> bool:
    """Tell whether a name such as `EPSG:4326` or `urn:ogc:def:crs:OGC:1.3:CRS84` is lon/lat."""
    name = name.upper()
    parts = name.replace("/", ":").split(":")
    return name in _NAMES or (parts[-1] in _CODES and not _AUTHORITIES.isdisjoint(parts[:-1]))


def _refusal(path: Path, found: str) -> InputError:
    return InputError(
        f"{path}: its coordinate reference system is {found};"
        " only lon/lat on WGS 84 is understood (OGC:CRS84, EPSG:4326)"
    )
