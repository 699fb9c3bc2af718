"""What stands in the topic of publications: Features, plain or as CloudEvents."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import orjson

from geocast.model import split_key

__all__ = ["feature_of", "publication_headers"]

_MARK: Final = b'"specversion"'
_TYPE: Final = ("ce_type", b"geocast.publication.v1")
_VERSION: Final = ("ce_specversion", b"1.0")
_CONTENT: Final = ("content-type", b"application/geo+json")


def publication_headers(key: str) -> list[tuple[str, bytes]]:
    """Return the headers that make a Feature a CloudEvent in binary mode."""
    publisher, identifier = split_key(key)
    return [_VERSION, _TYPE, _CONTENT, _source(publisher), ("ce_id", identifier.encode())]


@lru_cache(maxsize=1024)
def _source(publisher: str) -> tuple[str, bytes]:
    return ("ce_source", f"/accounts/{publisher}".encode())


def feature_of(value: bytes) -> bytes:
    """Return the Feature that a CloudEvent in structured mode carries; anything else as it is.

    In binary mode the value is the Feature itself.
    """
    if _MARK not in value:
        return value
    try:
        event = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    if not isinstance(event, dict) or "specversion" not in event or "data" not in event:
        return value
    return orjson.dumps(event["data"])
