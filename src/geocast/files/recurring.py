"""Geometries that recur, known by their text: what was read before is not read again.

Events happen in the same places over and over, and to read the numbers of a polygon is most of
what reading a Feature costs.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

import orjson

from geocast.files.feature import load_json
from geocast.files.geometry import BadGeometryError, geometry_to_wkb

__all__ = ["RecurringGeometries"]

_MEMBER: Final = b'"geometry"'
_SHORT: Final = 200
_MAX_BYTES: Final = 64 << 20
_OVERHEAD: Final = 300


class RecurringGeometries:
    """Reads Features, and remembers the WKB of the geometries, in bounded memory.

    The text of a Feature is taken apart at the braces of its geometry. The rest is parsed with a
    mark in the place of the geometry: a text that nobody can guess. Where the Feature that comes
    out has the mark as its geometry, and what was between the braces is a geometry by itself, the
    whole is that Feature with that geometry. Anything else is read in the plain way. Not for
    several threads at once.

    What was not used for longest is forgotten: by halves, so that nothing is sorted.
    """

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._half = max_bytes // 2
        self._young: dict[bytes, bytes] = {}
        self._old: dict[bytes, bytes] = {}
        self._size = 0
        self._mark = secrets.token_hex(16)
        self._quoted = b'"%b"' % self._mark.encode()

    def load(self, text: bytes) -> Any:
        """Return the parsed text of a record; a known geometry is its WKB instead of an object.

        Raises BadRecordError as `load_json` does.
        """
        start = _geometry_at(text)
        stop = text.find(b"}", start) + 1 if start >= 0 else 0
        if stop - start < _SHORT:
            return load_json(text)
        feature = self._around(text, start, stop)
        wkb = None if feature is None else self._wkb(text[start:stop])
        if feature is None or wkb is None:
            return load_json(text)
        feature["geometry"] = wkb
        return feature

    def _around(self, text: bytes, start: int, stop: int) -> dict[str, Any] | None:
        """Return the record without its geometry; None where that is not what was cut out."""
        try:
            value = orjson.loads(b"".join((text[:start], self._quoted, text[stop:])))
        except orjson.JSONDecodeError:
            return None
        found = isinstance(value, dict) and value.get("geometry") == self._mark
        return value if found else None

    def _wkb(self, text: bytes) -> bytes | None:
        """Return the WKB of the text of a geometry; None where it is none by itself."""
        wkb = self._young.get(text)
        if wkb is not None:
            return wkb
        wkb = self._old.get(text)
        if wkb is None:
            try:
                wkb = geometry_to_wkb(orjson.loads(text))
            except (orjson.JSONDecodeError, BadGeometryError):
                return None
        self._remember(text, wkb)
        return wkb

    def _remember(self, text: bytes, wkb: bytes) -> None:
        self._young[text] = wkb
        self._size += len(text) + len(wkb) + _OVERHEAD
        if self._size > self._half:
            self._young, self._old, self._size = {}, self._young, 0


def _geometry_at(text: bytes) -> int:
    """Return where the object behind the first `geometry` begins; -1 where that is not plain."""
    at = text.find(_MEMBER)
    if at < 0:
        return -1
    at += len(_MEMBER)
    start = text.find(b"{", at)
    return start if text[at:start].strip() == b":" else -1
