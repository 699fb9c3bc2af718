"""Memory is bounded by the chunk, not by the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.random import default_rng

from geocast.files import assemble, read
from tests.files.samples import feature, point_wkb, write_json

# What Python and Arrow allocate is counted by themselves, so that the figure does not depend on
# the machine. The small file comes first so that modules imported late are not counted.
_MEASURE = """
import sys, tracemalloc
import pyarrow as pa
from geocast.files import duplicate_rows, read, write_features

def go_through(path, out):
    rows = sum(len(chunk.rows) for chunk in read(path, "publications", batch_rows=500))
    chunks = read(path, "publications", batch_rows=500)
    assert write_features(out, (chunk.batch for chunk in chunks)) == rows
    assert len(duplicate_rows(path, "publications")) == 0
    return rows

small, large, out = sys.argv[1:]
go_through(small, out)
tracemalloc.start()
rows = go_through(large, out)
print(rows, tracemalloc.get_traced_memory()[1] + pa.default_memory_pool().max_memory())
"""


def _json_file(path: Path, size: int) -> int:
    """Write features of about `size` bytes in all; return how many."""
    text = json.dumps(feature("ID", name="x" * 4_000))
    count = size // len(text)
    lines = path.suffix == ".geojsonl"
    with path.open("w") as file:
        file.write("" if lines else '{"type": "FeatureCollection", "features": [')
        for i in range(count):
            file.write("" if i == 0 else "\n" if lines else ",")
            file.write(text.replace("ID", str(i)))
        file.write("" if lines else "]}")
    return count


def _parquet_file(path: Path, size: int) -> int:
    """Write one row group of incompressible text, so that the group is as large as the file."""
    count = size // 1_000
    noise = default_rng(1).bytes(count * 500).hex()
    texts = [noise[i * 1_000 : (i + 1) * 1_000] for i in range(count)]
    ids = [str(i) for i in range(count)]
    table = pa.table({"id": ids, "geometry": [point_wkb()] * count, "noise": texts})
    pq.write_table(table, path, row_group_size=count, compression="none", use_dictionary=False)
    return count


@pytest.mark.parametrize(
    ("suffix", "size"), [(".geojson", 20 << 20), (".geojsonl", 20 << 20), (".parquet", 48 << 20)]
)
def test_a_large_file_needs_little_memory(suffix: str, size: int, tmp_path: Path) -> None:
    small, large, out = (tmp_path / f"{name}{suffix}" for name in ("small", "large", "out"))
    make = _parquet_file if suffix == ".parquet" else _json_file
    make(small, size // 1_000)
    count = make(large, size)
    command = [sys.executable, "-c", _MEASURE, str(small), str(large), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows, peak = map(int, done.stdout.split())
    assert rows == count
    assert large.stat().st_size > 0.9 * size
    assert peak < 0.75 * size


def test_a_chunk_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "_MAX_BYTES", 10_000)
    records = [feature(str(i), text="x" * 1_000) for i in range(100)]
    chunks = list(read(write_json(tmp_path / "f.ndjson", records), "publications"))
    assert sum(len(chunk.rows) for chunk in chunks) == 100
    assert max(len(chunk.rows) for chunk in chunks) <= 10


def test_a_chunk_is_bounded_in_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "_MAX_CELLS", 10_000)
    records = [feature(str(i), **{f"name{i}": i}) for i in range(1_000)]
    chunks = list(read(write_json(tmp_path / "f.ndjson", records), "publications"))
    assert sum(len(chunk.rows) for chunk in chunks) == 1_000
    assert max(chunk.batch.num_rows * chunk.batch.num_columns for chunk in chunks) < 11_000


def test_a_chunk_is_bounded_in_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "_MAX_REJECTS", 10)
    chunks = list(read(write_json(tmp_path / "f.ndjson", list(range(95))), "publications"))
    assert [len(chunk.rejects) for chunk in chunks] == [10] * 9 + [5]
    assert all(len(chunk.rows) == 0 for chunk in chunks)
