from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from geocast import files
from geocast.errors import InputError
from geocast.files import Chunk
from geocast.pipeline import PublicationFile, Split, open_publications
from geocast.pipeline.splits import ParquetSplit, SplitReader
from tests.pipeline.generate import publications

NO_ROWS = np.empty(0, np.int64)


def unwatched(position: int) -> None:
    assert position >= 0


def read_all(opened: PublicationFile, tasks: int) -> list[Chunk]:
    splits = opened.split(tasks)
    numbers = pa.RecordBatch.from_pydict({"id": list(range(len(splits)))})
    return list(SplitReader(splits)(iter([numbers])))


def ranges(splits: list[Split]) -> list[ParquetSplit]:
    found = [split for split in splits if isinstance(split, ParquetSplit)]
    assert len(found) == len(splits)
    return found


def write_collection(path: Path, count: int) -> None:
    features: list[dict[str, Any]] = [
        {
            "type": "Feature",
            "id": f"p{number}",
            "geometry": {"type": "Point", "coordinates": [number % 90, 1]},
            "properties": {"mag": number, "row": "a property", "mixed": [1, "x"][number % 2]},
        }
        for number in range(count)
    ]
    features[3]["geometry"] = None
    features[5]["id"] = "p4"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def test_of_a_folder_only_the_files_are_read_that_have_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        pq.write_table(publications(100, seed=number), tmp_path / f"{number}.parquet")
    asked: list[int] = []
    usual = pq.ParquetFile.iter_batches

    def watched(file: pq.ParquetFile, *args: Any, **options: Any) -> Any:
        for batch in usual(file, *args, **options):
            asked.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    stamp = files.stamp(tmp_path)
    [split] = ranges([ParquetSplit(str(tmp_path), range(150, 300), (), NO_ROWS, stamp)])
    assert [row for chunk in split.chunks() for row in chunk.rows] == list(range(150, 300))
    assert asked == [100, 100]


def test_input_that_has_changed_since_is_not_read(tmp_path: Path) -> None:
    for number in range(2):
        pq.write_table(publications(20, seed=number), tmp_path / f"{number}.parquet")
    opened = open_publications(tmp_path, (), tmp_path, unwatched)
    assert sum(chunk.batch.num_rows for chunk in read_all(opened, 3)) > 0
    pq.write_table(publications(5, seed=3), tmp_path / "00.parquet")
    with pytest.raises(InputError, match="has changed since its rows were counted"):
        read_all(opened, 3)


@given(total=st.integers(0, 5000), tasks=st.integers(1, 200))
def test_ranges_cover_every_row_once_and_in_order(total: int, tasks: int) -> None:
    splits = PublicationFile("x.parquet", (), NO_ROWS, [total], None, "").split(tasks)
    assert [row for split in ranges(splits) for row in split.rows] == list(range(total))
    assert len(splits) == max(min(tasks, total), 1)


def cut_for(spark: SparkSession, groups: list[int]) -> list[range]:
    opened = PublicationFile("x.parquet", (), NO_ROWS, groups, None, "")
    return [split.rows for split in ranges(opened.split_for(spark))]


@given(groups=st.lists(st.integers(0, 500), max_size=30))
def test_splits_for_cores_cover_every_row_once_and_leave_no_core_idle_for_long(
    spark: SparkSession, groups: list[int]
) -> None:
    splits = cut_for(spark, groups)
    assert [row for rows in splits for row in rows] == list(range(sum(groups)))
    cores = spark.sparkContext.defaultParallelism
    busy = [0] * cores
    for rows in splits:
        busy[busy.index(min(busy))] += len(rows)
    # Cut within row groups, splits are equal but for a row.
    assert max(busy) <= max(1.1 * sum(groups) / cores, sum(groups) / cores + len(splits))


def test_splits_for_cores_end_between_row_groups_where_these_are_even(spark: SparkSession) -> None:
    cores = spark.sparkContext.defaultParallelism
    assert cut_for(spark, [70] * cores) == [range(n * 70, n * 70 + 70) for n in range(cores)]
    many = cut_for(spark, [7] * cores * 30)
    assert len(many) == 3 * cores
    assert all(rows.start % 7 == 0 for rows in many)


def test_splits_for_cores_divide_a_row_group_that_one_core_would_read_alone(
    spark: SparkSession,
) -> None:
    cores = spark.sparkContext.defaultParallelism
    assert cores > 1
    assert len(cut_for(spark, [6_000])) == 3 * cores
    assert len(cut_for(spark, [6_000, 50])) == 3 * cores
    assert cut_for(spark, []) == [range(0)]


@given(duplicates=st.lists(st.integers(0, 99), unique=True).map(sorted), tasks=st.integers(1, 10))
def test_every_duplicate_goes_to_the_split_that_reads_it(duplicates: list[int], tasks: int) -> None:
    opened = PublicationFile("x.parquet", (), np.array(duplicates, np.int64), [100], None, "")
    splits = ranges(opened.split(tasks))
    assert [row for split in splits for row in split.duplicates] == duplicates
    assert all(row in split.rows for split in splits for row in split.duplicates)


@pytest.mark.parametrize("tasks", [1, 3, 50])
def test_parquet_is_read_in_ranges_with_only_the_columns_that_are_used(
    tmp_path: Path, tasks: int
) -> None:
    table = publications(50)
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=17)
    opened = open_publications(tmp_path / "p.parquet", {"mag", "missing"}, tmp_path, unwatched)
    chunks = read_all(opened, tasks)
    assert np.concatenate([chunk.rows for chunk in chunks]).tolist() == list(range(50))
    read = pa.Table.from_batches([chunk.batch for chunk in chunks])
    assert read.column_names == ["id", "geometry", "mag"]
    assert read["id"].to_pylist() == table["id"].to_pylist()


def test_spooled_geojson_gives_the_same_chunks_as_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "p.geojson"
    write_collection(path, 20)
    positions: list[int] = []
    opened = open_publications(path, {"mag", "row", "mixed"}, tmp_path, positions.append)
    [chunk] = read_all(opened, 4)
    [expected] = files.read(path, "publications", columns={"mag", "row", "mixed"})
    keep = pa.array([row != 5 for row in expected.rows])
    assert chunk.batch.equals(expected.batch.filter(keep))
    assert chunk.rows.tolist() == [row for row in range(20) if row not in (3, 5)]
    assert [reject.row for reject in chunk.rejects] == [3, 5]
    assert "duplicate" in chunk.rejects[1].reason
    [position] = positions
    assert 0 < position <= files.input_size(path)


@pytest.mark.parametrize("name", ["p.parquet", "p.geojson", "p.geojsonl"])
def test_an_empty_input_is_one_split_without_records(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pq.write_table(publications(5).slice(0, 0), tmp_path / name)
    else:
        empty = '{"type": "FeatureCollection", "features": []}' if name.endswith("n") else ""
        (tmp_path / name).write_text(empty)
    opened = open_publications(tmp_path / name, (), tmp_path, unwatched)
    assert sum(chunk.batch.num_rows for chunk in read_all(opened, 4)) == 0


@pytest.mark.parametrize("name", ["p.parquet", "p.geojson"])
def test_a_broken_input_is_noticed_before_any_task_runs(tmp_path: Path, name: str) -> None:
    whole = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(publications(50), whole)
    else:
        write_collection(whole, 20)
    content = whole.read_bytes()
    whole.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=name):
        open_publications(whole, (), tmp_path, unwatched)
