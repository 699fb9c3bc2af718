"""Parquet and GeoParquet in: only the columns that are wanted, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from geocast.errors import InputError
from geocast.files.assemble import Wanted
from geocast.files.chunk import SUBSCRIPTIONS, Chunk
from geocast.files.formats import open_error, parquet_parts
from geocast.files.geoparquet import check_native, geometry_column
from geocast.files.plain import as_binary, as_text
from geocast.files.wkb import check_wkb
from geocast.model import Reject, Side

__all__ = ["parquet_groups", "parquet_ids", "read_parquet"]

_BATCH_BYTES = 1 << 26
_READ_BUFFER = 1 << 20
_SAMPLED_GROUPS = 16
_MAGIC = b"PAR1"


@dataclass(frozen=True)
class _Layout:
    """Which columns of a file are read, and as what."""

    geometry: str | None
    properties: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return ["id", *([self.geometry] if self.geometry else []), *self.properties]


def read_parquet(
    path: Path, side: Side, wanted: Wanted, batch_rows: int, rows: range
) -> Iterator[Chunk]:
    """Yield what of a Parquet file, or of the parts of a folder, lies in `rows`, as chunks."""
    first_row = position = 0
    for part in _parts(path):
        with _opened(part) as file:
            layout = _layout(file, part, side, wanted)
            size, total = part.stat().st_size, file.metadata.num_rows
            for start, batch in _rows(file, layout.names, batch_rows, _shifted(rows, -first_row)):
                done = start + batch.num_rows
                place = position + size * done // total
                yield _chunk(batch, layout, side, first_row + start, place, part)
            first_row, position = first_row + total, position + size


def parquet_groups(path: Path, side: Side) -> list[int]:
    """Count the rows of each row group of a Parquet input, without reading them.

    Raises InputError where it cannot be used.
    """
    found: list[int] = []
    for part in _parts(path):
        with _opened(part) as file:
            _layout(file, part, side, Wanted(()))
            found += _group_rows(file)
    return found


def parquet_ids(path: Path, batch_rows: int) -> Iterator[pa.Array]:
    """Yield the ids of a Parquet input as text, null where a row has none, and read no more."""
    for part in _parts(path):
        with _opened(part) as file:
            _require_id(file.schema_arrow, part)
            for batch in _batches(file, ["id"], batch_rows):
                yield as_text(batch.column("id"), "id", part)[0]


def _parts(path: Path) -> list[Path]:
    try:
        return parquet_parts(path)
    except OSError as error:
        raise open_error(path, error) from error


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file, and turn whatever is wrong with it while it is open into an InputError."""
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_READ_BUFFER) as file:
            yield file
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise open_error(path, error) from error
    except (pa.ArrowException, OSError) as error:
        raise _damage(path, error) from error


def _damage(path: Path, error: Exception) -> InputError:
    """Return what is wrong with a file that Arrow could not read as Parquet."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
            size = file.seek(0, 2)
            file.seek(max(size - 4, 0))
            tail = file.read(4)
    except OSError as unreadable:
        return open_error(path, unreadable)
    if size == 0:
        return InputError(f"{path}: is empty; a Parquet file is expected")
    if head != _MAGIC:
        return InputError(f"{path}: is not a Parquet file")
    if tail != _MAGIC:
        return InputError(f"{path}: is a Parquet file that breaks off: its end is missing")
    return InputError(f"{path}: is a damaged Parquet file: {str(error).splitlines()[0]}")


def _rows(
    file: pq.ParquetFile, names: list[str], batch_rows: int, rows: range
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows in the range as batches, each with the number of its first row.

    Of the row groups, only those that hold such rows are read.
    """
    ends = np.cumsum(_group_rows(file))
    first = int(np.searchsorted(ends, rows.start, side="right"))
    last = int(np.searchsorted(ends, rows.stop, side="left"))
    groups = list(range(first, min(last + 1, len(ends))))
    start = int(ends[first - 1]) if first else 0
    for batch in _batches(file, names, batch_rows, groups if rows else []):
        low = max(rows.start - start, 0)
        high = min(rows.stop - start, batch.num_rows)
        if low < high:
            yield start + low, batch.slice(low, high - low)
        if (start := start + batch.num_rows) >= rows.stop:
            break


def _group_rows(file: pq.ParquetFile) -> list[int]:
    return [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]


def _shifted(rows: range, by: int) -> range:
    return range(max(rows.start + by, 0), max(rows.stop + by, 0))


def _batches(
    file: pq.ParquetFile, names: list[str], rows: int, groups: list[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield batches of at most `rows`, fewer where rows are so wide that memory would suffer."""
    rows = max(min(rows, int(_BATCH_BYTES / _row_bytes(file.metadata, set(names)))), 1)
    for batch in file.iter_batches(batch_size=rows, row_groups=groups, columns=names):
        if batch.num_rows:
            yield batch


def _row_bytes(metadata: pq.FileMetaData, names: set[str]) -> float:
    """Return the bytes of a row in the given columns, in the widest of the first row groups."""
    widest = 1.0
    for i in range(min(metadata.num_row_groups, _SAMPLED_GROUPS)):
        group = metadata.row_group(i)
        leaves = (group.column(j) for j in range(group.num_columns))
        sizes = (
            leaf.total_uncompressed_size
            for leaf in leaves
            if leaf.path_in_schema.split(".")[0] in names
        )
        widest = max(widest, sum(sizes) / max(group.num_rows, 1))
    return widest


def _layout(file: pq.ParquetFile, path: Path, side: Side, wanted: Wanted) -> _Layout:
    schema = file.schema_arrow
    _require_id(schema, path)
    geo = (file.metadata.metadata or {}).get(b"geo")
    geometry = geometry_column(schema.names, geo, path)
    if geometry is not None:
        _check_native(file, geometry, path)
    if geometry is None and side == "publications":
        raise InputError(f"{path}: no column `geometry`; {_named(schema)}")
    if geometry != "geometry" and "geometry" in schema.names:
        raise InputError(f"{path}: the column `geometry` is not its primary one, {geometry!r}")
    if repeated := {name for name in schema.names if schema.names.count(name) > 1}:
        raise InputError(f"{path}: several columns are named {sorted(repeated)[0]!r}")
    others = [name for name in schema.names if name not in ("id", geometry)]
    if side == "subscriptions":
        return _Layout(geometry, tuple(n for n in SUBSCRIPTIONS.names[2:] if n in others))
    return _Layout(geometry, tuple(name for name in others if name in wanted))


def _named(schema: pa.Schema) -> str:
    shown = schema.names[:10]
    return f"columns: {', '.join(shown)}{', ...' if len(schema.names) > 10 else ''}"


def _check_native(file: pq.ParquetFile, geometry: str, path: Path) -> None:
    leaves = (file.schema.column(i) for i in range(len(file.schema)))
    for leaf in leaves:
        if leaf.path == geometry:
            check_native(leaf.logical_type.to_json(), path)


def _require_id(schema: pa.Schema, path: Path) -> None:
    if "id" not in schema.names:
        raise InputError(f"{path}: no column `id`; {_named(schema)}")


def _chunk(
    batch: pa.RecordBatch, layout: _Layout, side: Side, row: int, position: int, path: Path
) -> Chunk:
    geometry, reasons = _geometry(batch, layout, side, path)
    columns = {"id": batch.column("id"), "geometry": geometry}
    columns |= {name: batch.column(name) for name in layout.properties}
    for name in _text_columns(side):
        column = columns.get(name, pa.nulls(batch.num_rows))
        columns[name], bad = as_text(column, name, path)
        reasons = bad | reasons
    ids = columns["id"]
    for i in np.flatnonzero(ids.is_null()):
        reasons.setdefault(int(i), "no id: it is null")
    names = SUBSCRIPTIONS.names if side == "subscriptions" else list(columns)
    clean = pa.RecordBatch.from_arrays([columns[name] for name in names], names=names)
    kept = np.ones(len(clean), np.bool_)
    kept[list(reasons)] = False
    rejects = tuple(Reject(side, row + i, ids[i].as_py(), reasons[i]) for i in sorted(reasons))
    clean = clean.filter(pa.array(kept)) if reasons else clean
    return Chunk(clean, row + np.flatnonzero(kept).astype(np.int64), rejects, position)


def _text_columns(side: Side) -> list[str]:
    return ["id"] if side == "publications" else ["id", *SUBSCRIPTIONS.names[2:]]


def _geometry(
    batch: pa.RecordBatch, layout: _Layout, side: Side, path: Path
) -> tuple[pa.Array, dict[int, str]]:
    """Return the clean geometry column, and the reason for each row that has to go."""
    if layout.geometry is None:
        return pa.nulls(batch.num_rows, pa.binary()), {}
    checked = check_wkb(as_binary(batch.column(layout.geometry), layout.geometry, path))
    reasons = dict(checked.bad)
    if side == "publications":
        for i in np.flatnonzero(checked.column.is_null()):
            reasons.setdefault(int(i), "the geometry is null")
    return checked.column, reasons
