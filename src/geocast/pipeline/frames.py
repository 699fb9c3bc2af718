"""DataFrames as publications and as subscriptions: what is asked of them, what travels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark users know)
from pyspark.sql.types import BinaryType, DataType, IntegralType, StringType

from geocast.errors import InputError
from geocast.files import Chunk
from geocast.model import RESERVED_SUBSCRIPTION_COLUMNS

__all__ = ["collect_subscriptions", "project", "read_frame"]

_BATCH_ROWS = 100_000
_BATCH_BYTES = 64 << 20


def project(frame: DataFrame, properties: Iterable[str]) -> DataFrame:
    """Return only what matching needs of `frame`: `id` as text, `geometry`, used attributes.

    An attribute `a.b` is a column of that name or else the field `b` of the column `a`; one
    that does not exist is left out, and is NULL to the filters. Raises InputError where
    `id` or `geometry` is missing or has a type that cannot be used.
    """
    _check(frame)
    names = {name if name in frame.columns else name.split(".")[0] for name in properties}
    attributes = sorted((names & set(frame.columns)) - {"id", "geometry"})
    identifier = F.col("id").cast("string").alias("id")
    return frame.select(identifier, "geometry", *(F.col(_quoted(name)) for name in attributes))


def read_frame(batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
    """Yield the publications of one partition of a projected DataFrame, in large chunks.

    Rows are numbered within the partition: a DataFrame has no other order.
    """
    start = 0
    for batch in _gather(batches):
        rows = np.arange(start, start + batch.num_rows, dtype=np.int64)
        yield Chunk(batch, rows, ())
        start += batch.num_rows


def collect_subscriptions(frame: DataFrame) -> pa.Table:
    """Bring a DataFrame of subscriptions to the driver, without columns that mean nothing."""
    if frame.isStreaming:
        raise InputError("the subscriptions must be a batch DataFrame, not a streaming one")
    known = [name for name in RESERVED_SUBSCRIPTION_COLUMNS if name in frame.columns]
    return frame.select(*known).toArrow()


def _check(frame: DataFrame) -> None:
    types: dict[str, DataType] = {field.name: field.dataType for field in frame.schema.fields}
    for name in ("id", "geometry"):
        if name not in types:
            columns = ", ".join(frame.columns)
            raise InputError(f"the publications have no column {name!r}; their columns: {columns}")
    if not isinstance(types["id"], StringType | IntegralType):
        kind = types["id"].simpleString()
        raise InputError(f"the publications' column 'id' must be string or integer, not {kind}")
    if not isinstance(types["geometry"], BinaryType):
        kind = types["geometry"].simpleString()
        raise InputError(
            f"the publications' column 'geometry' must be binary (WKB), not {kind}{_advice(kind)}"
        )


def _advice(kind: str) -> str:
    if kind.startswith(("geometry", "geography")):
        return "; convert it with ST_AsBinary(geometry)"
    return ""


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join small batches: matching a batch costs less a row the more rows it has."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield pa.concat_batches(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.concat_batches(waiting)
