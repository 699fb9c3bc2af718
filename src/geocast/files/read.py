"""Features in: one way to read for all formats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import orjson
import pyarrow as pa

from geocast.errors import InputError
from geocast.files.assemble import (
    Build,
    Located,
    Wanted,
    assemble,
    pack_properties,
    subscription_batch,
    type_properties,
    typed_columns,
)
from geocast.files.chunk import Chunk
from geocast.files.collection import collection_texts
from geocast.files.feature import load_json
from geocast.files.formats import Format, format_of
from geocast.files.parquet import parquet_groups, read_parquet
from geocast.files.recurring import RecurringGeometries
from geocast.files.sequence import sequence_texts
from geocast.model import Side

__all__ = ["BATCH_ROWS", "read", "read_packed", "read_texts", "row_groups", "unpack"]

BATCH_ROWS = 65_536
"""How many rows a chunk has at most where nothing else is asked for."""

_EVERY_ROW = range(1 << 62)


def read(
    path: str | Path,
    side: Side,
    *,
    columns: Collection[str] | None = None,
    batch_rows: int = BATCH_ROWS,
    rows: range | None = None,
) -> Iterator[Chunk]:
    """Yield the features of a file as chunks, in the order of the file.

    The suffix tells the format (`format_of`); a folder is read as Parquet parts in the order
    of their names. Memory is bounded by the chunk, not by the file: a chunk has at most
    `batch_rows` rows, fewer where the records are large. A file without records yields
    nothing.

    `columns` are the properties that are wanted, None for all; in Parquet no others are read.
    `a.b` asks for the column `a`. A name that the file lacks is no error, the column is just
    not there. Subscriptions always come with exactly the columns of SUBSCRIPTIONS.

    `rows` asks for a range of rows only; of Parquet, other row groups are not read. GeoJSON can
    only be read from its beginning, and refuses it.

    A bad record becomes a reject of its chunk. A file that cannot be used as a whole raises
    InputError, which may be late: a FeatureCollection that breaks off is noticed only there.
    """
    return _read(Path(path), side, columns, batch_rows, type_properties, rows)


def row_groups(path: str | Path, side: Side) -> list[int] | None:
    """Return how many rows each row group of a Parquet input has, in order.

    None for GeoJSON, which must be read to know. Raises InputError where the input cannot be
    used, as far as that shows without reading it.
    """
    return parquet_groups(Path(path), side) if format_of(path) is Format.PARQUET else None


def read_packed(
    path: str | Path,
    *,
    columns: Collection[str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[Chunk]:
    """Yield the publications of a GeoJSON file with all properties as one column of text.

    The columns are `id`, `geometry` and `properties` (a JSON object as text), the same for
    every file, so that the chunks can be spooled; `unpack` makes typed columns of them.
    Otherwise like `read`. Parquet is refused: it has typed columns already.
    """
    path = Path(path)
    if format_of(path) is Format.PARQUET:
        raise InputError(f"{path}: is Parquet, which has no packed form")
    return _read(path, "publications", columns, batch_rows, pack_properties)


def read_texts(
    texts: Iterable[bytes],
    *,
    columns: Collection[str] | None = None,
    known: RecurringGeometries | None = None,
) -> Iterator[Chunk]:
    """Yield publications that come one by one as the text of a Feature; otherwise like `read`.

    `rows` of a chunk are places in the order of the texts. Geometries that are `known` by their
    text are not read again.
    """
    located = (Located(text, row, 0) for row, text in enumerate(texts))
    load = load_json if known is None else known.load
    wanted = Wanted(columns)
    return assemble(located, "publications", wanted, BATCH_ROWS, type_properties, load)


def unpack(batch: pa.RecordBatch, columns: Collection[str] | None = None) -> pa.RecordBatch:
    """Return a batch of `read_packed` with one typed column for each property, as `read` gives."""
    wanted = Wanted(columns)
    texts = batch.column("properties").to_pylist()
    properties = [wanted.of(orjson.loads(text)) for text in texts]
    typed = typed_columns(properties)
    arrays = [batch.column("id"), batch.column("geometry"), *typed.values()]
    return pa.RecordBatch.from_arrays(arrays, names=["id", "geometry", *typed])


def _read(
    path: Path,
    side: Side,
    columns: Collection[str] | None,
    batch_rows: int,
    build: Build,
    rows: range | None = None,
) -> Iterator[Chunk]:
    if batch_rows < 1:
        raise InputError(f"batch_rows is {batch_rows}; at least 1 is needed")
    wanted = Wanted(columns)
    found = format_of(path)
    if found is Format.PARQUET:
        return read_parquet(path, side, wanted, batch_rows, _EVERY_ROW if rows is None else rows)
    if rows is not None:
        raise InputError(f"{path}: is GeoJSON, of which no range of rows can be read")
    texts = collection_texts(path) if found is Format.COLLECTION else sequence_texts(path)
    build = subscription_batch if side == "subscriptions" else build
    return assemble(texts, side, wanted, batch_rows, build)
