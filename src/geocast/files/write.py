"""Matches and rejects out, as Parquet or as NDJSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from geocast.files.atomic import open_output
from geocast.files.formats import Format, table_format
from geocast.model import MATCHES, PAIRS, REJECTS, Reject, Rejects

__all__ = ["pairs_of", "write_matches", "write_rejects"]

_REJECT_ROWS = 65_536
_JSON_ROWS = 4_096


def write_matches(
    path: str | Path | None, batches: Iterable[pa.Table], *, pairs: bool = False
) -> int:
    """Write tables with the schema MATCHES one after another; return the number of rows.

    With `pairs`, a row a matched pair (PAIRS) instead of a row a publication. The suffix
    tells the format: `.parquet`, or `.ndjson` for a JSON object a line; `-` or None writes
    NDJSON to standard output. The file appears under its name only when all is written.
    """
    tables: Iterable[pa.Table] = (table.cast(MATCHES) for table in batches)
    if pairs:
        tables = map(pairs_of, tables)
    return _write(path, tables, PAIRS if pairs else MATCHES)


def write_rejects(path: str | Path | None, rejects: Iterable[Reject]) -> int:
    """Write bad records as rows of REJECTS, in the formats of `write_matches`."""
    return _write(path, _reject_tables(rejects), REJECTS)


def pairs_of(matches: pa.Table) -> pa.Table:
    """Return MATCHES as PAIRS: a row for each publication and each of its subscriptions."""
    chunks = []
    for batch in matches.combine_chunks().to_batches():
        lists = batch.column("subscriptions")
        publication = batch.column("publication").take(pc.list_parent_indices(lists))
        chunks.append(pa.RecordBatch.from_arrays([publication, lists.flatten()], schema=PAIRS))
    return pa.Table.from_batches(chunks, PAIRS)


def _reject_tables(rejects: Iterable[Reject]) -> Iterator[pa.Table]:
    records: list[Reject] = []
    for reject in rejects:
        records.append(reject)
        if len(records) == _REJECT_ROWS:
            yield Rejects(records).to_table()
            records = []
    yield Rejects(records).to_table()


def _write(path: str | Path | None, tables: Iterable[pa.Table], schema: pa.Schema) -> int:
    to_stdout = path is None or str(path) == "-"
    as_parquet = not to_stdout and table_format(str(path)) is Format.PARQUET
    rows = 0
    with open_output(path) as file:
        if as_parquet:
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for table in tables:
                    writer.write_table(table)
                    rows += table.num_rows
        else:
            for table in tables:
                for batch in table.to_batches(max_chunksize=_JSON_ROWS):
                    file.write(_lines(batch))
                rows += table.num_rows
    return rows


def _lines(batch: pa.RecordBatch) -> bytes:
    return b"".join(
        orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in batch.to_pylist()
    )
