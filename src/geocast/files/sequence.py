"""GeoJSON sequences: the texts of the records, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from geocast.errors import InputError
from geocast.files.assemble import Located
from geocast.files.formats import open_error

__all__ = ["MAX_RECORD_BYTES", "sequence_texts"]

MAX_RECORD_BYTES = 1 << 28
"""A longer record is a sign of a wrong format rather than of a large Feature."""

_RS = b"\x1e"
_BLANK = b" \t\r\n\x1e"
_READ = 1 << 20


def sequence_texts(path: Path) -> Iterator[Located]:
    """Yield the records of a sequence file; blank ones are passed over.

    Records end with a line feed; their row is the number of the line. In a file that begins
    with RS (RFC 8142) they begin with RS instead, may span lines, and are numbered as such.
    """
    try:
        with path.open("rb") as file:
            yield from _records(file, path)
    except OSError as error:
        raise open_error(path, error) from error


def _records(file: BinaryIO, path: Path) -> Iterator[Located]:
    first = _skip_mark(file, path)
    by_separator = first.lstrip(b" \t\r\n").startswith(_RS)
    separator = _RS if by_separator else b"\n"
    row = 0
    for text, end in _pieces(file, first, separator, path):
        stripped = text.strip(_BLANK)
        if stripped:
            yield Located(stripped, row, end)
        row += bool(stripped) if by_separator else 1


def _skip_mark(file: BinaryIO, path: Path) -> bytes:
    """Return the first bytes without a byte order mark, refusing UTF-16."""
    first = file.read(_READ)
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path}: is UTF-16 text; GeoJSON is UTF-8")
    return first.removeprefix(b"\xef\xbb\xbf")


def _pieces(
    file: BinaryIO, first: bytes, separator: bytes, path: Path
) -> Iterator[tuple[bytes, int]]:
    """Yield what stands between separators, with the byte at which it ends."""
    rest, chunk, count = [b""], first, 0
    end = file.tell() - len(first)
    while chunk:
        *whole, last = chunk.split(separator)
        for piece in whole:
            rest.append(piece)
            text = b"".join(rest)
            end += len(piece) + 1
            yield text, end
            rest, count = [], count + 1
        rest.append(last)
        end += len(last)
        if sum(map(len, rest)) > MAX_RECORD_BYTES:
            raise InputError(
                f"{path}: record {count} is longer than {MAX_RECORD_BYTES >> 20} MB;"
                " is it a sequence of one Feature a line?"
            )
        chunk = file.read(_READ)
    yield b"".join(rest), end
