"""The JSON text of one Feature to its id, WKB and properties, or to the reason why not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from geocast.files.geometry import BadGeometryError, geometry_to_wkb, json_kind
from geocast.model import Side

__all__ = ["BadRecordError", "BrokenJsonError", "Record", "load_json", "parse_feature"]

_MAX_DEPTH = 100


class BadRecordError(ValueError):
    """A record cannot be used; carries its id where that could be read."""

    def __init__(self, reason: str, identifier: str | None = None) -> None:
        self.reason = reason
        self.identifier = identifier
        super().__init__(reason)


class BrokenJsonError(BadRecordError):
    """The text of a record is not JSON; `position` is the byte or character that shows it."""

    def __init__(self, reason: str, position: int) -> None:
        self.position = position
        super().__init__(f"not JSON: {reason} (at character {position})")


@dataclass(slots=True)
class Record:
    """One good Feature."""

    id: str
    geometry: bytes | None
    properties: dict[str, Any]


def parse_feature(text: bytes, feature: Any, side: Side) -> Record:
    """Return the record of a Feature, given its text and what `load_json` made of it.

    Its geometry may be WKB already, where the reader knew it. A subscription may have no geometry,
    a publication must have one. Raises BadRecordError.
    """
    if not isinstance(feature, dict):
        raise BadRecordError(f"not a GeoJSON Feature but {json_kind(feature)}")
    identifier = _id_of(feature, text)
    if feature.get("type") != "Feature":
        raise BadRecordError(_wrong_type(feature), identifier)
    properties = feature.get("properties")
    if properties is None:
        properties = {}
    elif not isinstance(properties, dict):
        raise BadRecordError(f"`properties` is {json_kind(properties)}, not an object", identifier)
    if identifier is None:
        raise BadRecordError("no id: neither a member `id` nor a property `id`")
    if "geometry" in properties:
        raise BadRecordError("a property may not be named `geometry`", identifier)
    if _is_deep(properties):
        raise BadRecordError(f"properties nested beyond {_MAX_DEPTH} levels", identifier)
    properties.pop("id", None)
    return Record(identifier, _geometry_of(feature, side, identifier), properties)


def load_json(text: bytes) -> Any:
    """Return the parsed text; raises BadRecordError, or BrokenJsonError if it is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        broken = error
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise BadRecordError(f"not UTF-8: byte {error.start} of the record") from None
    if "depth" in broken.msg or "recursion" in broken.msg.lower():
        raise BadRecordError("JSON nested too deeply (more than 1024 levels)")
    raise BrokenJsonError(broken.msg, broken.pos)


def _id_of(feature: dict[str, Any], text: bytes) -> str | None:
    """Return the id as text: the member `id`, else the property `id`; None if there is none."""
    value = feature.get("id")
    from_property = value is None
    if from_property:
        properties = feature.get("properties")
        value = properties.get("id") if isinstance(properties, dict) else None
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return _as_written(text, from_property) or repr(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise BadRecordError(f"the id is {json_kind(value)}; it must be text or a number")


def _as_written(text: bytes, from_property: bool) -> str | None:
    """Return a number used as id exactly as the file writes it.

    A double cannot hold every number: two long numbers must not become one id.
    """
    try:
        feature = json.loads(text, parse_float=str, parse_int=str)
    except RecursionError:
        return None
    found: str = (feature["properties"] if from_property else feature)["id"]
    return found


def _wrong_type(feature: dict[str, Any]) -> str:
    name = feature.get("type")
    if name is None:
        return "not a GeoJSON Feature: it has no `type`"
    if name == "FeatureCollection":
        return "a FeatureCollection where a single Feature is expected"
    return f"not a GeoJSON Feature: its `type` is {json_kind(name).removeprefix('the text ')}"


def _is_deep(properties: dict[str, Any]) -> bool:
    """Tell whether objects and arrays are nested deeper than anything after this could print."""
    level: list[Any] = [properties]
    for _ in range(_MAX_DEPTH):
        members = (v.values() if type(v) is dict else v for v in level)
        level = [m for m in chain.from_iterable(members) if type(m) is dict or type(m) is list]
        if not level:
            return False
    return True


def _geometry_of(feature: dict[str, Any], side: Side, identifier: str) -> bytes | None:
    geometry = feature.get("geometry")
    if geometry is None:
        if side == "subscriptions":
            return None
        reason = "the geometry is null" if "geometry" in feature else "no geometry"
        raise BadRecordError(reason, identifier)
    if type(geometry) is bytes:
        return geometry
    try:
        return geometry_to_wkb(geometry)
    except BadGeometryError as error:
        raise BadRecordError(str(error), identifier) from None
