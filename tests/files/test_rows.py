from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.files import read, row_groups

BAD = {4, 17}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parts of 20 rows, in row groups of 6; rows 4 and 17 of the input are bad."""
    folder = tmp_path_factory.mktemp("parts")
    shapes = shapely.to_wkb(shapely.points(np.arange(40) % 90, 0)).tolist()
    shapes = [b"bad" if row in BAD else shape for row, shape in enumerate(shapes)]
    table = pa.table({"id": [str(row) for row in range(40)], "geometry": shapes})
    for part in range(2):
        pq.write_table(table.slice(part * 20, 20), folder / f"{part}.parquet", row_group_size=6)
    return folder


@given(first=st.integers(0, 45), count=st.integers(0, 45), batch_rows=st.integers(1, 9))
def test_a_range_gives_exactly_its_rows(
    folder: Path, first: int, count: int, batch_rows: int
) -> None:
    rows = range(first, first + count)
    chunks = list(read(folder, "publications", rows=rows, batch_rows=batch_rows))
    good = [
        (int(row), name)
        for chunk in chunks
        for row, name in zip(chunk.rows, chunk.batch["id"].to_pylist(), strict=True)
    ]
    wanted = [row for row in range(40) if row in rows]
    assert good == [(row, str(row)) for row in wanted if row not in BAD]
    assert [r.row for c in chunks for r in c.rejects] == [row for row in wanted if row in BAD]


def test_ranges_are_for_parquet_only(tmp_path: Path) -> None:
    path = tmp_path / "p.geojsonl"
    path.write_text("")
    assert row_groups(path, "publications") is None
    with pytest.raises(InputError, match="no range of rows"):
        read(path, "publications", rows=range(3))


def test_rows_are_counted_without_reading_them(folder: Path, tmp_path: Path) -> None:
    assert row_groups(folder, "publications") == [6, 6, 6, 2, 6, 6, 6, 2]
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "p.parquet")
    with pytest.raises(InputError, match="no column `geometry`"):
        row_groups(tmp_path / "p.parquet", "publications")
