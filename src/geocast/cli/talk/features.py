"""Features to be published, from a file or standard input, some at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
import pyarrow as pa
import shapely

from geocast import files
from geocast.errors import InputError
from geocast.files.assemble import UNPARSED, Located
from geocast.files.collection import collection_texts
from geocast.files.feature import BadRecordError, load_json
from geocast.files.sequence import sequence_texts
from geocast.files.storable import json_default

__all__ = ["Batch", "read_features"]

_TOGETHER: Final = 2_000
_READ: Final = 1 << 20
_BLANK: Final = b" \t\r\n\x1e"
_INPUT: Final = "standard input"


@dataclass(slots=True)
class Batch:
    """Features and their rows in the input, what cannot be read, and how far the input is read."""

    features: list[dict[str, Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    bad: list[tuple[int, str | None, str]] = field(default_factory=list)
    position: int = 0

    def add(self, located: Located) -> None:
        """Take one record, or note why it cannot be used."""
        try:
            value = located.value if located.value is not UNPARSED else load_json(located.text)
        except BadRecordError as error:
            self.bad.append((located.row, error.identifier, error.reason))
        else:
            self.features.append(value)
            self.rows.append(located.row)
        self.position = located.end


def read_features(path: str) -> Iterator[Batch]:
    """Yield the features of a file, or of standard input (`-`); raises InputError.

    A feature needs no id. Standard input is one Feature a line, which are yielded as they come,
    or a single Feature or FeatureCollection.
    """
    if path == "-":
        return _standard_input(sys.stdin.buffer)
    found = files.format_of(path)
    files.input_size(path)
    if found is files.Format.PARQUET:
        return map(_of_chunk, files.read(path, "publications", batch_rows=_TOGETHER))
    texts = collection_texts if found is files.Format.COLLECTION else sequence_texts
    return _batches(texts(Path(path)))


def _batches(records: Iterator[Located]) -> Iterator[Batch]:
    while some := list(islice(records, _TOGETHER)):
        batch = Batch()
        for located in some:
            batch.add(located)
        yield batch


def _of_chunk(chunk: files.Chunk) -> Batch:
    bad = [(reject.row, reject.id, reject.reason) for reject in chunk.rejects]
    return Batch(_features(chunk.batch), chunk.rows.tolist(), bad, chunk.position)


def _features(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    texts = shapely.to_geojson(shapely.from_wkb(batch.column("geometry").to_pylist()))
    return [_feature(text, row) for text, row in zip(texts, batch.to_pylist(), strict=True)]


def _feature(geometry: str | None, row: dict[str, Any]) -> dict[str, Any]:
    properties = {name: value for name, value in row.items() if name not in ("id", "geometry")}
    return {
        "type": "Feature",
        "id": row["id"],
        "geometry": None if geometry is None else orjson.Fragment(geometry),
        "properties": orjson.Fragment(orjson.dumps(properties, default=json_default)),
    }


def _standard_input(stream: BinaryIO) -> Iterator[Batch]:
    pieces = iter(lambda: stream.read1(_READ), b"")  # type: ignore[attr-defined]
    first = b""
    for piece in pieces:
        first += piece
        if b"\n" in first.lstrip(_BLANK):
            break
    first = first.removeprefix(b"\xef\xbb\xbf")
    line = first.strip(_BLANK).split(b"\n", 1)[0]
    if _is_feature(line):
        yield from _lines(chain([first], pieces))
    elif whole := (first + b"".join(pieces)).strip():
        yield from _document(whole)


def _is_feature(text: bytes) -> bool:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.get("type") != "FeatureCollection"


def _lines(pieces: Iterator[bytes]) -> Iterator[Batch]:
    """Yield what each piece completes; the rest at the end."""
    rest, rows = b"", count()
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield _of_lines(whole, rows)
    yield _of_lines([rest], rows)


def _of_lines(lines: list[bytes], rows: Iterator[int]) -> Batch:
    batch = Batch()
    for line in lines:
        row = next(rows)
        if text := line.strip(_BLANK):
            batch.add(Located(text, row, 0))
    return batch


def _document(text: bytes) -> Iterator[Batch]:
    """Yield a whole document, or a sequence (RFC 8142) whose records span lines."""
    if text.startswith(b"\x1e"):
        records = [part.strip(_BLANK) for part in text.split(b"\x1e")]
        return _batches(Located(part, row, 0) for row, part in enumerate(filter(None, records)))
    try:
        value = load_json(text)
    except BadRecordError as error:
        raise InputError(f"{_INPUT}: {error.reason}") from None
    found = value.get("features") if isinstance(value, dict) else None
    features = found if isinstance(found, list) else [value]
    return _batches(Located(b"", row, 0, feature) for row, feature in enumerate(features))
