"""What publications and subscriptions must both fulfil: ids that can be used, bounded sizes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import orjson

from geocast.files.feature import BadRecordError
from geocast.files.geometry import json_kind
from geocast.model import MAX_ID

__all__ = [
    "MAX_FEATURE",
    "MAX_VERTICES",
    "check_geometry_size",
    "identifier_of",
    "printed",
]

MAX_FEATURE: Final = 8 << 20
"""How long the compact text of one feature may be, in bytes."""

MAX_VERTICES: Final = 250_000
"""How many vertices one geometry may have."""

_VERTEX_BYTES: Final = 16
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def identifier_of(feature: dict[str, Any], exact: Callable[[], str | None] | None = None) -> str:
    """Return the id of a feature as text: its member `id`, its property `id`, or a new one.

    `exact` returns a number that is not whole, or too long, as it was written. Raises
    BadRecordError for what cannot be an id.
    """
    value = feature.get("id")
    if value is None:
        properties = feature.get("properties")
        value = properties.get("id") if type(properties) is dict else None
    if value is None:
        return uuid4().hex
    if type(value) is float:
        value = (exact() if exact else None) or repr(value)
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise BadRecordError(f"the id is {json_kind(value)}; it must be text or a number")
    return _checked(value)


def _checked(text: str) -> str:
    if not 0 < len(text) <= MAX_ID:
        raise BadRecordError(f"the id has {len(text)} characters; it must have 1 to {MAX_ID}")
    if _CONTROL.search(text):
        raise BadRecordError("the id has a control character")
    return text


def printed(feature: dict[str, Any], identifier: str) -> bytes:
    """Return a feature as compact JSON; raises BadRecordError where that is too much."""
    try:
        text = orjson.dumps(feature)
    except orjson.JSONEncodeError:
        raise BadRecordError("nested too deeply (more than 250 levels)", identifier) from None
    if len(text) > MAX_FEATURE:
        reason = f"the feature has {len(text)} bytes; it may have {MAX_FEATURE}"
        raise BadRecordError(reason, identifier)
    return text


def check_geometry_size(wkb: bytes | None, identifier: str) -> None:
    """Raise BadRecordError where a geometry has too many vertices."""
    vertices = len(wkb or b"") // _VERTEX_BYTES
    if vertices > MAX_VERTICES:
        reason = f"the geometry has about {vertices} vertices; it may have {MAX_VERTICES}"
        raise BadRecordError(reason, identifier)
