"""Ids that occur twice in an input that may be larger than memory.

Those that memory holds easily are compared as they are. Of more of them, every id is reduced to
16 bytes and sorted, with its row, into one of 256 buckets by its first byte; a bucket spills to
disk when it grows. Afterwards each bucket is sorted on its own. Two different ids are then taken
for the same with a probability below 1e-18 for a billion ids.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.files.chunk import Chunk
from geocast.files.formats import Format, format_of
from geocast.files.parquet import parquet_ids
from geocast.files.read import BATCH_ROWS, read
from geocast.model import Reject, Side

__all__ = ["duplicate_rows", "reject_duplicates"]

_AT_ONCE = 256 << 20
_ROW = 64  # bytes that comparing takes for each id, about, beside the id itself
_BUCKETS = 256
_IN_MEMORY = 1 << 18
_GEOJSON_ROWS = 1_024
_Ids = tuple[pa.StringArray, NDArray[np.int64]]
"""Ids, and the row of each."""
_ENTRY = np.dtype([("high", ">u8"), ("low", ">u8"), ("row", "<i8")])


def duplicate_rows(path: str | Path, side: Side) -> NDArray[np.int64]:
    """Return the rows, in order, whose id an earlier row of the input has too.

    The earlier row counts even if it is a bad record, as long as its id can be read. Of
    Parquet only the ids are read; GeoJSON is parsed once more for it. Memory is bounded by a
    constant, the number of rows returned, and 1/256 of the ids.
    """
    batches = _ids(Path(path), side)
    held: list[_Ids] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch[0].nbytes + _ROW * len(batch[0])
        if size > _AT_ONCE:
            return _by_buckets(chain(held, batches))
    return _compared(held)


def _compared(batches: Sequence[_Ids]) -> NDArray[np.int64]:
    """Return the rows whose id an earlier row has, of so few that memory holds them."""
    # Loads numba, which commands that read no file can do without.
    from geocast.match.columns import repeated

    if not batches:
        return np.empty(0, np.int64)
    ids = pa.concat_arrays([ids for ids, _ in batches])
    rows = np.concatenate([rows for _, rows in batches])
    if (np.diff(rows) < 0).any():
        order = np.argsort(rows)
        ids, rows = ids.take(pa.array(order)), rows[order]
    found: NDArray[np.int64] = rows[repeated(ids)]
    return found


def _by_buckets(batches: Iterable[_Ids]) -> NDArray[np.int64]:
    with ExitStack() as stack:
        spools = [
            stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))
            for _ in range(_BUCKETS)
        ]
        for ids, rows in batches:
            _sort_into(spools, ids.to_pylist(), rows)
        found = [_repeated(spool) for spool in spools]
    return np.sort(np.concatenate(found))


def reject_duplicates(chunk: Chunk, side: Side, rows: NDArray[np.int64]) -> Chunk:
    """Return a chunk in which the given rows (of `duplicate_rows`) are rejects."""
    repeated = np.isin(chunk.rows, rows)
    if not repeated.any():
        return chunk
    ids = chunk.batch.column("id")
    found = [
        Reject(side, int(chunk.rows[i]), ids[int(i)].as_py(), "duplicate id: an earlier row has it")
        for i in np.flatnonzero(repeated)
    ]
    rejects = tuple(sorted([*chunk.rejects, *found], key=lambda reject: reject.row))
    batch = chunk.batch.filter(pa.array(~repeated))
    return Chunk(batch, chunk.rows[~repeated], rejects, chunk.position)


def _ids(path: Path, side: Side) -> Iterator[_Ids]:
    """Yield all ids that can be read, with their rows."""
    if format_of(path) is Format.PARQUET:
        first = 0
        for column in parquet_ids(path, BATCH_ROWS):
            present = np.flatnonzero(column.is_valid())
            yield column.drop_null(), present.astype(np.int64) + first
            first += len(column)
        return
    for chunk in read(path, side, columns=(), batch_rows=_GEOJSON_ROWS):
        named = [reject for reject in chunk.rejects if reject.id is not None]
        more = pa.array([reject.id for reject in named], pa.string())
        ids = pa.concat_arrays([chunk.batch.column("id"), more])
        rows = np.array([reject.row for reject in named], dtype=np.int64)
        yield ids, np.concatenate([chunk.rows, rows])


def _sort_into(spools: Sequence[IO[bytes]], ids: list[str], rows: NDArray[np.int64]) -> None:
    digests = b"".join(blake2b(text.encode(), digest_size=16).digest() for text in ids)
    pairs = np.frombuffer(digests, ">u8").reshape(-1, 2)
    entries = np.empty(len(ids), _ENTRY)
    entries["high"], entries["low"], entries["row"] = pairs[:, 0], pairs[:, 1], rows
    bucket = (pairs[:, 0] >> np.uint64(56)).astype(np.int64)
    order = np.argsort(bucket, kind="stable")
    ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
    for spool, part in zip(spools, np.split(entries[order], ends[:-1]), strict=True):
        spool.write(part.tobytes())


def _repeated(spool: IO[bytes]) -> NDArray[np.int64]:
    """Return the rows of a bucket whose id an earlier row has."""
    spool.seek(0)
    entries = np.frombuffer(spool.read(), _ENTRY)
    entries = entries[np.lexsort((entries["row"], entries["low"], entries["high"]))]
    same = (entries["high"][1:] == entries["high"][:-1]) & (
        entries["low"][1:] == entries["low"][:-1]
    )
    found: NDArray[np.int64] = entries["row"][1:][same].astype(np.int64)
    return found
