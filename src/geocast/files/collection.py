"""GeoJSON FeatureCollections: the texts of the features, one at a time, in bounded memory.

The file is never parsed as a whole. A window moves over it, the end of each feature is found,
and only that feature's text goes to the JSON parser. Nearly all writers begin every feature
with the same member, so the next place that looks like such a beginning is tried as the end
of the present feature. That is safe, since no proper beginning of a JSON object is an object
itself: a guess that parses is right. Where the guess does not parse, braces are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from geocast.errors import InputError
from geocast.files.assemble import UNPARSED, Located
from geocast.files.crs import check_named_crs
from geocast.files.feature import BadRecordError, BrokenJsonError, load_json
from geocast.files.formats import open_error
from geocast.files.sequence import MAX_RECORD_BYTES

__all__ = ["collection_texts"]

_READ = 1 << 20
_MAX_MISSES = 8
_NO_VALUE = (b"", b",", b":", b"]", b"}")
_SPACE = re.compile(rb"[ \t\r\n]*+")
_FIRST_MEMBER = re.compile(rb'\{[ \t\r\n]*+("[^"\\]*+")')
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_WORD = re.compile(rb"[^,\]}\s]++(?=[,\]}\s])")
_TO_BRACE = re.compile(rb'[^{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^{}"]*+)*+([{}])', re.DOTALL)
_TO_BRACKET = re.compile(
    rb'[^\[\]"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^\[\]"]*+)*+([\[\]])', re.DOTALL
)


def collection_texts(path: Path) -> Iterator[Located]:
    """Yield the texts of the features of a FeatureCollection, in order.

    Raises InputError, with the byte, where the file is no FeatureCollection or breaks off;
    what stood before has been yielded by then.
    """
    try:
        with path.open("rb") as file:
            yield from _Collection(file, path).features()
    except OSError as error:
        raise open_error(path, error) from error


class _Window:
    """The part of a file that is looked at: `text[at:]` is still to be read."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self.path = path
        self.text = b""
        self.at = 0
        self._start = 0
        self.fill()

    @property
    def offset(self) -> int:
        """The place of `at` in the file, in bytes."""
        return self._start + self.at

    def fill(self) -> bool:
        """Drop what has been read and get more; False at the end of the file."""
        kept = self.text[self.at :]
        if len(kept) > MAX_RECORD_BYTES:
            size = MAX_RECORD_BYTES >> 20
            raise InputError(f"{self.path}: the value at byte {self.offset} exceeds {size} MB")
        more = self._file.read(max(_READ, len(kept)))
        self._start += self.at
        self.text, self.at = kept + more, 0
        return bool(more)

    def peek(self) -> bytes:
        """Return the next byte that is not white space, and stand at it; empty at the end."""
        while True:
            match = _SPACE.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text) or not self.fill():
                return self.text[self.at : self.at + 1]


def _beginning_like(feature: bytes) -> re.Pattern[bytes] | None:
    """Return a pattern for the end of a feature and the beginning of one like the given."""
    member = _FIRST_MEMBER.match(feature)
    if member is None:
        return None
    space = rb"[ \t\r\n]*+"
    parts = (rb"\}", rb",", rb"\{", re.escape(member[1]), rb":")
    return re.compile(space.join(parts))


class _Collection:
    """A walk over the members of the outermost object."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._window = _Window(file, path)
        self._path = path
        self._count = 0
        self._beginning: re.Pattern[bytes] | None = None
        self._misses = 0
        self._inside_features = False

    def features(self) -> Iterator[Located]:
        self._open()
        members: dict[str, Any] = {}
        while (name := self._member_name(first=not members)) is not None:
            if name == "features" and self._window.peek() == b"[":
                members[name] = True
                yield from self._elements()
            else:
                members[name] = self._member(name)
        self._check(members)
        if self._window.peek():
            raise self._error("more text after the end of the FeatureCollection")

    def _open(self) -> None:
        window = self._window
        if window.text[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{self._path}: is UTF-16 text; GeoJSON is UTF-8")
        if window.text.startswith(b"\xef\xbb\xbf"):
            window.at = 3
        first = window.peek()
        if not first:
            raise InputError(f"{self._path}: is empty; a GeoJSON FeatureCollection is expected")
        if first != b"{":
            raise self._error("not a GeoJSON FeatureCollection: it does not begin with `{`")
        window.at += 1

    def _member_name(self, *, first: bool) -> str | None:
        """Return the next member's name, standing at its value; None at the closing brace."""
        window = self._window
        if window.peek() == b"}":
            window.at += 1
            return None
        if not first:
            self._expect(b",", "`,` or `}` after a member")
        if window.peek() != b'"':
            raise self._broken("a member name")
        name = str(self._parse(self._text()))
        self._expect(b":", f"`:` after {name!r}")
        return name

    def _expect(self, byte: bytes, expected: str) -> None:
        if self._window.peek() != byte:
            raise self._broken(expected)
        self._window.at += 1

    def _member(self, name: str) -> Any:
        value = self._parse(self._text())
        if name == "type" and value != "FeatureCollection":
            raise InputError(
                f"{self._path}: its `type` is {value!r}; a FeatureCollection is expected"
                " (a Feature a line is a .geojsonl file)"
            )
        if name == "crs":
            check_named_crs(value, self._path)
        return value

    def _elements(self) -> Iterator[Located]:
        window = self._window
        self._expect(b"[", "`[`")
        self._inside_features = True
        more = window.peek() != b"]"
        while more:
            yield self._feature()
            self._count += 1
            more = window.peek() == b","
            window.at += more
        self._expect(b"]", "`,` or `]` after a feature")
        self._inside_features = False

    def _feature(self) -> Located:
        """Return the feature that begins here, and stand behind it."""
        window = self._window
        guess = self._guess() if window.peek() == b"{" else None
        if guess is not None:
            window.at += len(guess.text)
            return guess
        start = window.offset
        text = self._text()
        if self._beginning is None:
            self._beginning = _beginning_like(text)
        try:
            value = load_json(text)
        except BrokenJsonError as error:
            place = f"at byte {start} (feature {self._count})"
            raise InputError(f"{self._path}: {error.reason} of the feature {place}") from None
        except BadRecordError:
            value = UNPARSED
        return Located(text, self._count, window.offset, value)

    def _guess(self) -> Located | None:
        """Return the text up to what looks like the next feature, if that is an object."""
        if self._beginning is None or self._misses >= _MAX_MISSES:
            return None
        window = self._window
        found = self._beginning.search(window.text, window.at)
        self._misses += 1
        if found is None:
            return None
        text = window.text[window.at : found.start() + 1]
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        self._misses = 0
        return Located(text, self._count, window.offset + len(text), value)

    def _text(self) -> bytes:
        """Return the text of the value that begins here, and stand behind it."""
        window = self._window
        first = window.peek()
        if first == b"{":
            text = self._counted(_TO_BRACE, b"{")
        elif first == b"[":
            text = self._counted(_TO_BRACKET, b"[")
        elif first in _NO_VALUE:
            raise self._broken("a value")
        else:
            text = self._token(_STRING if first == b'"' else _WORD)
        window.at += len(text)
        return text

    def _token(self, pattern: re.Pattern[bytes]) -> bytes:
        while True:
            if found := pattern.match(self._window.text, self._window.at):
                return found[0]
            if not self._window.fill():
                raise self._error("the file ends in the middle of a value that begins")

    def _counted(self, pattern: re.Pattern[bytes], opening: bytes) -> bytes:
        """Return the text up to the bracket that closes the one here."""
        window = self._window
        depth = seen = 0
        while True:
            found = pattern.match(window.text, window.at + seen)
            if found is not None:
                depth += 1 if found[1] == opening else -1
                seen = found.end() - window.at
                if depth == 0:
                    return window.text[window.at : window.at + seen]
            elif not window.fill():
                raise self._error("the file ends in the middle of a value that begins")

    def _parse(self, text: bytes) -> Any:
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise self._error(f"not JSON: {error.msg}, before") from None

    def _check(self, members: dict[str, Any]) -> None:
        if "type" not in members:
            raise InputError(f"{self._path}: has no `type`; a FeatureCollection is expected")
        if members.get("features") is not True:
            raise InputError(f"{self._path}: has no array `features`")

    def _broken(self, expected: str) -> InputError:
        if not self._window.peek():
            return self._error("the file breaks off")
        return self._error(f"not JSON: expected {expected}")

    def _error(self, reason: str) -> InputError:
        where = f"at byte {self._window.offset}"
        if self._inside_features:
            where = f"{where} (feature {self._count})"
        return InputError(f"{self._path}: {reason} {where}")
