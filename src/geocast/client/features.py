"""What users give, as GeoJSON Features with an id; and many Features in pieces to be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable
from uuid import uuid4

import orjson

from geocast.errors import InputError

__all__ = [
    "CHUNK_BYTES",
    "CHUNK_FEATURES",
    "Chunk",
    "Chunks",
    "FeatureLike",
    "GeometryLike",
    "encode",
    "geometry_of",
    "make_feature",
]

CHUNK_FEATURES: Final = 500
"""How many features are sent together where nothing else is asked for."""

CHUNK_BYTES: Final = 4 << 20
"""How large a piece may be; a larger single feature is sent alone."""

_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY


@runtime_checkable
class HasGeoInterface(Protocol):
    """Anything that can tell its geometry, or its Feature, as GeoJSON: shapely, and others."""

    @property
    def __geo_interface__(self) -> Mapping[str, Any]: ...


GeometryLike: TypeAlias = Mapping[str, Any] | HasGeoInterface
FeatureLike: TypeAlias = GeometryLike | tuple[GeometryLike, Mapping[str, Any] | None]


def geometry_of(given: GeometryLike) -> dict[str, Any]:
    """Return a geometry as GeoJSON; of a Feature, its geometry. Raises InputError."""
    found = _geojson(given)
    if found.get("type") != "Feature":
        return found
    if not isinstance(found.get("geometry"), Mapping):
        raise InputError("a Feature without a geometry")
    return dict(found["geometry"])


def make_feature(
    given: FeatureLike,
    properties: Mapping[str, Any] | None = None,
    identifier: str | int | None = None,
) -> dict[str, Any]:
    """Return a Feature with an id: its own, that of its properties, or a new one.

    `given` is a Feature, a geometry, or a pair of geometry and properties. `properties` and
    `identifier` go before what the Feature has. Raises InputError for anything else.
    """
    if isinstance(given, tuple):
        if len(given) != 2:
            raise InputError(f"a pair of geometry and properties is expected, not {len(given)}")
        given, properties = given
    found = _geojson(given)
    if found.get("type") != "Feature":
        found = {"type": "Feature", "geometry": found, "properties": {}}
    own = found.get("properties")
    if properties is not None:
        own = {**(own if isinstance(own, Mapping) else {}), **properties}
    return {**found, "id": _id(identifier, found.get("id"), own), "properties": own}


def _id(*candidates: Any) -> Any:
    asked, member, properties = candidates
    own = properties.get("id") if isinstance(properties, Mapping) else None
    found = next((value for value in (asked, member, own) if value is not None), None)
    return uuid4().hex if found is None else found


def _geojson(given: Any) -> dict[str, Any]:
    found = getattr(given, "__geo_interface__", given)
    if not isinstance(found, Mapping):
        what = type(given).__name__
        hint = "; publish_many takes several" if isinstance(given, list) else ""
        raise InputError(
            f"a GeoJSON mapping or an object with __geo_interface__ is expected, not {what}{hint}"
        )
    if not isinstance(found.get("type"), str):
        raise InputError("not GeoJSON: a mapping without `type`")
    return dict(found)


def encode(value: Any) -> bytes:
    """Return a value as JSON; raises InputError where it cannot be JSON."""
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS)
    except orjson.JSONEncodeError as error:
        raise InputError(f"cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__}")


@dataclass(slots=True)
class Chunk:
    """Features to be sent together: place among all, id and text of each; and what cannot be."""

    places: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0

    def split(self) -> tuple[Chunk, Chunk]:
        """Return its two halves; `refused` stays with the first."""
        half = len(self.texts) // 2
        first = Chunk(self.places[:half], self.ids[:half], self.texts[:half], self.refused)
        return first, Chunk(self.places[half:], self.ids[half:], self.texts[half:])


class Chunks:
    """Gathers features into chunks of bounded number and size."""

    def __init__(self, features: int = CHUNK_FEATURES, size: int = CHUNK_BYTES) -> None:
        if features < 1:
            raise InputError(f"a chunk of {features} features; at least 1 is needed")
        self._features, self._size = features, size
        self._chunk = Chunk()
        self._count = 0

    def add(self, given: FeatureLike) -> Chunk | None:
        """Take one more feature; return a chunk where one is full."""
        place, self._count = self._count, self._count + 1
        try:
            feature = make_feature(given)
            text = encode(feature)
        except InputError as error:
            self._chunk.refused.append((place, str(error)))
            full = len(self._chunk.refused) >= self._features
            return self.rest() if full else None
        done = self.rest() if self._chunk.texts and self._overflows(text) else None
        self._chunk.places.append(place)
        self._chunk.ids.append(str(feature["id"]))
        self._chunk.texts.append(text)
        self._chunk.size += len(text)
        return self.rest() if done is None and self._is_full() else done

    def rest(self) -> Chunk | None:
        """Return what was gathered since the last chunk; None where that is nothing."""
        chunk, self._chunk = self._chunk, Chunk()
        return chunk if chunk.texts or chunk.refused else None

    def _overflows(self, text: bytes) -> bool:
        return self._chunk.size + len(text) > self._size

    def _is_full(self) -> bool:
        return len(self._chunk.texts) >= self._features
