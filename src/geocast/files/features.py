"""Features out, in every format in which they come in."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from geocast.errors import InputError
from geocast.files.atomic import open_output
from geocast.files.formats import Format, feature_format
from geocast.files.geoparquet import geo_metadata
from geocast.files.storable import conform, json_default, merge, storable
from geocast.files.wkb import check_wkb

__all__ = ["write_features"]

_JSON_ROWS = 1_024
_GROUP_BYTES = 1 << 23
_Bounds = tuple[float, float, float, float]


def write_features(path: str | Path, batches: Iterable[pa.Table | pa.RecordBatch]) -> int:
    """Write features in the format of the path's suffix; return how many.

    Every batch has the columns `id` and `geometry` (WKB, lon/lat); all others are properties
    and may differ from batch to batch in number and type. For GeoParquet, whose columns have
    one type throughout, a column that mixes kinds of values is written as text. The file
    appears under its name only when all is written. Raises InputError where a geometry is
    not WKB or a column is missing.
    """
    found = feature_format(path)
    checked = _checked(batches)
    with open_output(path) as file:
        if found is Format.PARQUET:
            return _write_parquet(file, checked)
        if found is Format.COLLECTION:
            return _write_collection(file, checked)
        return _write_sequence(file, checked)


def _checked(batches: Iterable[pa.Table | pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield record batches with `id` and clean `geometry` in front."""
    for table in batches:
        for batch in table.to_batches() if isinstance(table, pa.Table) else [table]:
            if missing := {"id", "geometry"} - set(batch.schema.names):
                raise InputError(f"features without a column `{sorted(missing)[0]}`")
            others = [name for name in batch.schema.names if name not in ("id", "geometry")]
            checked = check_wkb(batch.column("geometry").cast(pa.binary()))
            for row, reason in checked.bad.items():
                raise InputError(f"feature {batch.column('id')[row].as_py()!r}: {reason}")
            arrays = [batch.column("id"), checked.column, *map(batch.column, others)]
            yield pa.RecordBatch.from_arrays(arrays, names=["id", "geometry", *others])


def _write_sequence(file: BinaryIO, batches: Iterable[pa.RecordBatch]) -> int:
    count = 0
    for feature in _features(batches):
        file.write(feature + b"\n")
        count += 1
    return count


def _write_collection(file: BinaryIO, batches: Iterable[pa.RecordBatch]) -> int:
    count = 0
    file.write(b'{"type":"FeatureCollection","features":[')
    for feature in _features(batches):
        file.write((b",\n" if count else b"\n") + feature)
        count += 1
    file.write(b"\n]}\n")
    return count


def _features(batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    for batch in batches:
        for start in range(0, batch.num_rows, _JSON_ROWS):
            yield from _feature_texts(batch.slice(start, _JSON_ROWS))


def _feature_texts(batch: pa.RecordBatch) -> Iterator[bytes]:
    texts = shapely.to_geojson(shapely.from_wkb(batch.column("geometry").to_pylist()))
    ids = batch.column("id").to_pylist()
    rows = batch.to_pylist()
    for identifier, text, properties in zip(ids, texts, rows, strict=True):
        del properties["id"], properties["geometry"]
        feature: dict[str, Any] = {
            "type": "Feature",
            "id": identifier,
            "geometry": None if text is None else orjson.Fragment(text),
            "properties": properties,
        }
        yield orjson.dumps(feature, default=json_default)


class _Summary:
    """The geometry types and the bounds of what has been seen."""

    def __init__(self) -> None:
        self.types: set[int] = set()
        self._low = np.full(2, math.inf)
        self._high = np.full(2, -math.inf)

    def add(self, column: pa.Array) -> None:
        geometries = shapely.from_wkb(column.drop_null().to_pylist())
        names = np.unique(shapely.get_type_id(geometries))
        self.types.update(int(code) + (code < 2) for code in names)
        bounds = shapely.bounds(geometries)
        bounds = bounds[np.isfinite(bounds).all(axis=1)]
        if len(bounds):
            self._low = np.minimum(self._low, bounds[:, :2].min(axis=0))
            self._high = np.maximum(self._high, bounds[:, 2:].max(axis=0))

    @property
    def bounds(self) -> _Bounds | None:
        if not np.isfinite(self._low).all():
            return None
        low, high = self._low.tolist(), self._high.tolist()
        return low[0], low[1], high[0], high[1]


def _write_parquet(file: BinaryIO, batches: Iterable[pa.RecordBatch]) -> int:
    """Spool the batches on disk while their types are merged, then write them as merged."""
    summary = _Summary()
    types: dict[str, pa.DataType] = {"id": pa.string(), "geometry": pa.binary()}
    with tempfile.TemporaryFile() as spool:
        sizes = []
        for batch in batches:
            summary.add(batch.column("geometry"))
            for field in batch.schema:
                types[field.name] = merge(types.get(field.name, pa.null()), storable(field.type))
            sizes.append(_spool(spool, batch))
        schema = pa.schema(list(types.items()))
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            rows = 0
            for table in _row_groups(_spooled(spool, sizes), schema):
                writer.write_table(table)
                rows += table.num_rows
            writer.add_key_value_metadata(geo_metadata(summary.types, summary.bounds))
    return rows


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield batches together, as row groups large enough to be worth one."""
    group: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        conformed = _conformed(batch, schema)
        group.append(conformed)
        size += conformed.nbytes
        if size >= _GROUP_BYTES:
            yield pa.Table.from_batches(group, schema)
            group, size = [], 0
    if group:
        yield pa.Table.from_batches(group, schema)


def _spooled(spool: BinaryIO, sizes: list[int]) -> Iterator[pa.RecordBatch]:
    spool.seek(0)
    for size in sizes:
        yield pa.ipc.open_stream(spool.read(size)).read_next_batch()


def _spool(spool: BinaryIO, batch: pa.RecordBatch) -> int:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return spool.write(sink.getvalue())


def _conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    present = set(batch.schema.names)
    arrays = [
        conform(batch.column(field.name), field.type)
        if field.name in present
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
