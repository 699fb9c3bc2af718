"""The fields of a subscription, brought to text whatever the file holds."""

from __future__ import annotations

from typing import Any

import orjson

from geocast.files.feature import BadRecordError
from geocast.files.geometry import json_kind

__all__ = ["subscription_fields"]


def subscription_fields(properties: dict[str, Any], identifier: str) -> dict[str, str | None]:
    """Return `subscriber`, `predicate` and `filter` as text; other properties are ignored.

    A filter that is a JSON object, that is CQL2 JSON, becomes its JSON text. Raises
    BadRecordError for a value that cannot mean anything.
    """
    return {
        "subscriber": _subscriber(properties.get("subscriber"), identifier),
        "predicate": _predicate(properties.get("predicate"), identifier),
        "filter": _filter(properties.get("filter"), identifier),
    }


def _subscriber(value: Any, identifier: str) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, str):
        return value
    reason = f"`subscriber` is {json_kind(value)}; it must be text or a number"
    raise BadRecordError(reason, identifier)


def _predicate(value: Any, identifier: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRecordError(f"`predicate` is {json_kind(value)}; it must be text", identifier)


def _filter(value: Any, identifier: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | bool):
        return orjson.dumps(value).decode()
    reason = f"`filter` is {json_kind(value)}; it must be CQL2 text or a CQL2 JSON object"
    raise BadRecordError(reason, identifier)
