"""Bodies of publications: bytes in, ids and the values that the log keeps out, and what is bad.

Nearly all publications are points with flat attributes: those are judged by plain arithmetic.
All others are read and checked as files are, one by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from geocast.files.feature import BadRecordError, load_json, parse_feature
from geocast.files.geometry import json_kind
from geocast.gateway.bodies import Content, features_of, load_body, sequence_of
from geocast.gateway.checks import check_geometry_size, identifier_of, printed
from geocast.match.geometry.check import plain_or_reason

__all__ = ["ExactIds", "Features", "Rejected", "judge", "read_publications"]

_NUMBERS: Final = frozenset((int, float))
_FLAT: Final = frozenset((str, int, float, bool, type(None)))
_DEAD_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Rejected:
    """A feature that is not used: its place, its id if it has one, why, the start of its text."""

    index: int
    id: str | None
    reason: str
    value: bytes

    def error(self) -> dict[str, Any]:
        """Return it as answers name it."""
        return {"index": self.index, "id": self.id, "reason": self.reason}


@dataclass(slots=True)
class Features:
    """What a body holds; `single` says that it was one Feature and not a list of them."""

    single: bool
    good: list[tuple[str, bytes]] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.good) + len(self.rejected)

    def reject(self, index: int, error: BadRecordError, text: bytes) -> None:
        """Note a feature that is not used."""
        self.rejected.append(Rejected(index, error.identifier, error.reason, text[:_DEAD_BYTES]))


def read_publications(body: bytes, content: Content) -> Features:
    """Return the publications of a body, as pairs of id and compact JSON, and the rejected ones.

    The value of a publication is its Feature with its id, as text, as member `id`; one without an
    id gets a new one. Raises a Problem where the body as a whole cannot be read.
    """
    if content is Content.SEQUENCE:
        return _read_sequence(sequence_of(body))
    features, single = features_of(load_body(body))
    found = Features(single)
    exact = ExactIds(body, _single if single else _member)
    for index, feature in enumerate(features):
        judge(found, index, feature, exact)
    return found


def _read_sequence(texts: list[bytes]) -> Features:
    found = Features(single=False)
    for index, text in enumerate(texts):
        try:
            feature = load_json(text)
        except BadRecordError as error:
            found.reject(index, error, text)
        else:
            judge(found, index, feature, ExactIds(text))
    return found


def _single(value: Any, _: int) -> Any:
    return value


def _member(value: Any, index: int) -> Any:
    return value["features"][index]


class ExactIds:
    """Numbers used as ids, as a text writes them: a double cannot hold every number.

    `find` returns the feature at a place of the parsed text.
    """

    def __init__(self, text: bytes, find: Callable[[Any, int], Any] = _single) -> None:
        self._text = text
        self._find = find
        self._value: Any = None

    def id(self, index: int) -> str | None:
        """Return the id of the feature at that place; None if the text is nested too deeply."""
        try:
            if self._value is None:
                self._value = json.loads(self._text, parse_float=str, parse_int=str)
        except RecursionError:
            return None
        feature = self._find(self._value, index)
        found: str = feature["id"] if feature.get("id") else feature["properties"]["id"]
        return found


def judge(found: Features, index: int, feature: Any, exact: ExactIds) -> None:
    """Add a parsed feature to the good ones, or to the rejected ones.

    `exact` knows an id that is a fraction or a very long number as it was written.
    """
    try:
        found.good.append(_stored(feature, index, exact))
    except BadRecordError as error:
        found.reject(index, error, _text(feature))


def _text(feature: Any) -> bytes:
    """Return a rejected feature as JSON; nothing if it is nested too deeply to be printed."""
    try:
        return orjson.dumps(feature)
    except orjson.JSONEncodeError:
        return b""


def _stored(feature: Any, index: int, exact: ExactIds) -> tuple[str, bytes]:
    if type(feature) is not dict:
        raise BadRecordError(f"not a GeoJSON Feature but {json_kind(feature)}")
    identifier = identifier_of(feature, lambda: exact.id(index))
    feature["id"] = identifier
    if not _is_plain_point(feature):
        _check_feature(feature, identifier)
    return identifier, printed(feature, identifier)


def _is_plain_point(feature: dict[str, Any]) -> bool:
    """Tell whether this is surely a good Feature: a point in range, with flat properties."""
    geometry = feature.get("geometry")
    if type(geometry) is not dict or geometry.get("type") != "Point":
        return False
    position = geometry.get("coordinates")
    if type(position) is not list or len(position) < 2 or feature.get("type") != "Feature":
        return False
    if not _NUMBERS.issuperset(map(type, position)):
        return False
    if not (-180 <= position[0] <= 180 and -90 <= position[1] <= 90):
        return False
    properties = feature.get("properties")
    return properties is None or (
        type(properties) is dict
        and "geometry" not in properties
        and _FLAT.issuperset(map(type, properties.values()))
    )


def _check_feature(feature: dict[str, Any], identifier: str) -> None:
    """Raise BadRecordError unless a Feature of any kind can be used."""
    properties = feature.get("properties")
    copied = dict(properties) if type(properties) is dict else properties
    record = parse_feature(b"", {**feature, "properties": copied}, "publications")
    check_geometry_size(record.geometry, identifier)
    _, reason = plain_or_reason(record.geometry)
    if reason:
        raise BadRecordError(reason, identifier)
