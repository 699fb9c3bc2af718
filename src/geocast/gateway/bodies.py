"""Bodies of requests: media type and bytes in, JSON values or the texts of records out."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any, Final

from geocast.errors import InputError
from geocast.files.crs import check_named_crs
from geocast.files.feature import BadRecordError, load_json
from geocast.files.geometry import json_kind
from geocast.gateway.problems import Problem

__all__ = ["MAX_RECORDS", "Content", "features_of", "load_body", "sequence_of"]

MAX_RECORDS: Final = 100_000
"""How many features one request may have."""

_MARK: Final = b"\xef\xbb\xbf"
_RS: Final = b"\x1e"
_BLANK: Final = b" \t\r\n\x1e"


class Content(Enum):
    """What a body is, by its media type."""

    JSON = "application/json"
    GEOJSON = "application/geo+json"
    SEQUENCE = "application/geo+json-seq"

    @classmethod
    def of(cls, header: str | None, *, sequence: bool = True) -> Content:
        """Return what the header Content-Type says; a Problem (415) if it is none of these.

        No header is taken for GeoJSON; `sequence` tells whether sequences can be used.
        """
        name = (header or cls.GEOJSON.value).partition(";")[0].strip().lower()
        choices = {c.value: c for c in cls if sequence or c is not cls.SEQUENCE}
        if name not in choices:
            raise Problem(415, f"cannot read {name!r}; there are: {', '.join(choices)}")
        return choices[name]


def load_body(body: bytes) -> Any:
    """Return the JSON value of a body; a Problem (400) if it is none."""
    if not body:
        raise Problem(400, "the body is empty")
    try:
        return load_json(body.removeprefix(_MARK))
    except BadRecordError as error:
        raise Problem(400, f"the body cannot be read: {error.reason}") from None


def features_of(value: Any) -> tuple[list[Any], bool]:
    """Return the features of a JSON value, and whether it is a single one.

    What claims to be one Feature is not judged here. Raises a Problem for anything else that is
    no FeatureCollection.
    """
    if not isinstance(value, dict):
        raise Problem(422, f"the body is {json_kind(value)}, not a Feature or FeatureCollection")
    if value.get("type") != "FeatureCollection":
        return [value], True
    features = value.get("features")
    if not isinstance(features, list):
        raise Problem(422, "the FeatureCollection has no array `features`")
    _check_count(len(features))
    try:
        check_named_crs(value.get("crs"), Path("FeatureCollection"))
    except InputError as error:
        raise Problem(422, str(error)) from None
    return features, False


def sequence_of(body: bytes) -> list[bytes]:
    """Return the texts of a sequence: between RS if it begins so (RFC 8142), else of each line."""
    body = body.removeprefix(_MARK)
    separator = _RS if body.lstrip(b" \t\r\n").startswith(_RS) else b"\n"
    texts = [text for piece in body.split(separator) if (text := piece.strip(_BLANK))]
    _check_count(len(texts))
    return texts


def _check_count(count: int) -> None:
    if count > MAX_RECORDS:
        raise Problem(413, f"{count} features in one request; there may be {MAX_RECORDS}")
