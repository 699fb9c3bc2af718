from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from geocast.errors import GeocastError, InputError, StateError
from geocast.log import RECORDS, LogPlace, Record, SqliteLog
from geocast.pipeline import source
from geocast.pipeline.source import (
    LogRange,
    LogStreamReader,
    SourceOptions,
    log_stream,
    read_range,
    shares,
)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    made = SqliteLog.open(tmp_path / "log")
    yield made
    made.close()


def append(log: SqliteLog, start: int, stop: int) -> None:
    log.append([(f"key {i}", f"value {i}".encode()) for i in range(start, stop)])


def everything(log: SqliteLog) -> list[Record]:
    return [Record(**row) for p in range(log.partitions) for row in log.read(p, 0).to_pylist()]


# The reader by itself


def reader_of(tmp_path: Path, **options: str) -> LogStreamReader:
    return LogStreamReader(SourceOptions.read({"path": str(tmp_path / "log")} | options))


def offset_of(log: SqliteLog, *offsets: int) -> dict[str, Any]:
    return {"log": log.name, "offsets": {str(p): offset for p, offset in enumerate(offsets)}}


def test_a_query_begins_at_the_start_or_the_end(log: SqliteLog, tmp_path: Path) -> None:
    append(log, 0, 100)
    log.expire(max_bytes=0, keep=[3, 5])
    assert reader_of(tmp_path).initialOffset() == offset_of(log, 3, 5)
    latest = reader_of(tmp_path, start="latest")
    assert latest.initialOffset() == offset_of(log, *log.ends())
    assert latest.reportLatestOffset() == offset_of(log, *log.ends())


def test_limits_bound_a_batch(log: SqliteLog, tmp_path: Path) -> None:
    append(log, 0, 100)
    reader = reader_of(tmp_path, max_records="30")
    start = reader.initialOffset()
    assert reader.getDefaultReadLimit() == ReadMaxRows(30)
    assert reader.latestOffset(start, ReadMaxRows(30)) == offset_of(log, 15, 15)
    assert reader.latestOffset(start, ReadAllAvailable()) == offset_of(log, *log.ends())
    end = offset_of(log, *log.ends())
    assert reader.latestOffset(end, ReadMaxRows(30)) == end
    with pytest.raises(InputError, match="cannot be read by ReadMinRows"):
        reader.latestOffset(start, ReadMinRows(30))


def test_bytes_bound_a_batch(log: SqliteLog, tmp_path: Path) -> None:
    log.append([(f"{i:02d}", b"x" * 8) for i in range(50)])
    assert min(log.ends()) > 15
    reader = reader_of(tmp_path, max_bytes="199")
    assert reader.latestOffset(offset_of(log, 2, 1), ReadMaxRows(1000)) == offset_of(log, 11, 10)
    alone = offset_of(log, 0, log.ends()[1])
    assert reader.latestOffset(alone, ReadMaxRows(1000)) == offset_of(log, 19, log.ends()[1])
    tiny = reader_of(tmp_path, max_bytes="1")
    assert tiny.latestOffset(offset_of(log, 2, 1), ReadMaxRows(1000)) == offset_of(log, 3, 2)


def test_what_comes_after_available_now_is_not_read(log: SqliteLog, tmp_path: Path) -> None:
    append(log, 0, 10)
    reader = reader_of(tmp_path)
    ends = offset_of(log, *log.ends())
    reader.prepareForTriggerAvailableNow()
    append(log, 10, 20)
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == ends
    assert reader.latestOffset(ends, ReadMaxRows(5)) == ends


def test_a_range_gives_its_records_each_time(log: SqliteLog, tmp_path: Path) -> None:
    log.append([(str(i), bytes(i)) for i in range(100)])
    reader = pickle.loads(pickle.dumps(reader_of(tmp_path)))
    ranges = reader.partitions(offset_of(log, 2, 7), offset_of(log, 2, 20))
    assert ranges == [LogRange(1, 7, 20)]
    part = pickle.loads(pickle.dumps(ranges[0]))
    for _ in range(2):
        (batch,) = reader.read(part)
        assert batch.schema == RECORDS
        assert batch == log.read(1, 7, 20)


def test_a_range_is_read_whole_or_it_is_said_what_is_missing(log: SqliteLog) -> None:
    append(log, 0, 100)
    found = [row for batch in read_range(log, "here", 1, 2, 40) for row in batch.to_pylist()]
    assert [Record(**row) for row in found] == [
        one for one in everything(log) if one.partition == 1 and 2 <= one.offset < 40
    ]
    log.expire(max_bytes=0, keep=[0, 3])
    with pytest.raises(StateError, match="here: no record at offset 2 of partition 1"):
        list(read_range(log, "here", 1, 2, 40))
    end = log.ends()[1]
    with pytest.raises(StateError, match=f"here: partition 1 ends at {end}, before offset 999"):
        list(read_range(log, "here", 1, 3, 999))


def test_expired_records_stop_the_query(log: SqliteLog, tmp_path: Path) -> None:
    append(log, 0, 100)
    reader = reader_of(tmp_path)
    log.expire(max_bytes=0, keep=[3, 0])
    with pytest.raises(StateError, match="from offset 2 of partition 0 have expired"):
        reader.partitions(offset_of(log, 2, 0), offset_of(log, 5, 5))
    assert len(reader.partitions(offset_of(log, 3, 0), offset_of(log, 5, 5))) == 2
    with pytest.raises(StateError, match="no record at offset 2 of partition 0"):
        list(reader.read(LogRange(0, 2, 5)))


def test_a_checkpoint_of_another_log_is_refused(log: SqliteLog, tmp_path: Path) -> None:
    reader = reader_of(tmp_path)
    other = {"log": "0" * 32, "offsets": {"0": 0, "1": 0}}
    with pytest.raises(StateError, match=f"belongs to the log {'0' * 32}, this one is {log.name}"):
        reader.latestOffset(other, ReadMaxRows(5))


def test_a_checkpoint_ahead_of_the_log_is_refused(log: SqliteLog, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="at offset 9 of partition 1, but the log ends at 0"):
        reader_of(tmp_path).latestOffset(offset_of(log, 0, 9), ReadMaxRows(5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "'path' must name the directory of a log"),
        ({"path": "x", "max_records": "many"}, "'max_records' must be a whole number, not 'many'"),
        ({"path": "x", "max_bytes": "0"}, "'max_bytes' must be at least 1, not 0"),
        ({"path": "x", "start": "middle"}, "unknown start 'middle'; there are: earliest, latest"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, str], message: str) -> None:
    with pytest.raises(GeocastError, match=message):
        SourceOptions.read(options)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(1, 120))
def test_shares_are_even_and_use_all_that_they_can(waiting: list[int], total: int) -> None:
    given = shares(waiting, total)
    assert all(0 <= a <= b for a, b in zip(given, waiting, strict=True))
    assert sum(given) == min(total, sum(waiting))
    unmet = [a for a, b in zip(given, waiting, strict=True) if a < b]
    assert not unmet or max(given) - min(unmet) <= 1


# In Spark


class Batches:
    """What a query saw: the rows of every batch, in the order of the calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, list[Row]]] = []

    def __call__(self, frame: DataFrame, batch: int) -> None:
        self.seen.append((batch, frame.collect()))

    @property
    def records(self) -> list[Record]:
        return [Record(*row) for _, rows in self.seen for row in rows]


def run(spark: SparkSession, tmp_path: Path, max_records: int = 1_000) -> Batches:
    """Read all that there is, from where the checkpoint says."""
    batches = Batches()
    frame = log_stream(
        spark, LogPlace(tmp_path / "log", 2, True), max_records=max_records, max_bytes=1 << 20
    )
    writer = frame.writeStream.foreachBatch(batches).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(120)
    return batches


@pytest.mark.spark
def test_every_record_comes_once_and_in_order(
    spark: SparkSession, log: SqliteLog, tmp_path: Path
) -> None:
    append(log, 0, 100)
    batches = run(spark, tmp_path, max_records=30)
    assert [batch for batch, _ in batches.seen] == [0, 1, 2, 3]
    assert [len(rows) for _, rows in batches.seen] == [30, 30, 30, 10]
    for partition in range(2):
        own = [record for record in batches.records if record.partition == partition]
        assert own == [r for r in everything(log) if r.partition == partition]


@pytest.mark.spark
def test_the_columns_are_never_null(spark: SparkSession, log: SqliteLog, tmp_path: Path) -> None:
    frame = log_stream(spark, LogPlace(tmp_path / "log", 2, True), max_records=5, max_bytes=5)
    found = [(field.name, field.dataType.simpleString(), field.nullable) for field in frame.schema]
    assert found == [
        ("partition", "int", False),
        ("offset", "bigint", False),
        ("time", "bigint", False),
        ("key", "string", False),
        ("value", "binary", False),
    ]


@pytest.mark.spark
def test_a_restart_neither_repeats_nor_loses(
    spark: SparkSession, log: SqliteLog, tmp_path: Path
) -> None:
    append(log, 0, 20)
    first = run(spark, tmp_path)
    append(log, 20, 50)
    second = run(spark, tmp_path)
    assert [batch for batch, _ in second.seen] == [1]
    assert sorted(r.key for r in second.records) == sorted(f"key {i}" for i in range(20, 50))
    assert run(spark, tmp_path).seen == []
    both = first.records + second.records
    assert sorted(both, key=lambda r: (r.partition, r.offset)) == everything(log)


@pytest.mark.spark
def test_a_batch_that_was_not_committed_comes_again(
    spark: SparkSession, log: SqliteLog, tmp_path: Path
) -> None:
    append(log, 0, 60)
    first = run(spark, tmp_path, max_records=20)
    remove_last_commit(tmp_path / "checkpoint")
    append(log, 60, 70)
    second = run(spark, tmp_path, max_records=20)
    assert [batch for batch, _ in second.seen] == [2, 3]
    assert second.seen[0] == first.seen[2]
    assert len(second.seen[1][1]) == 10


@pytest.mark.spark
def test_a_running_query_sees_what_is_appended(
    spark: SparkSession, log: SqliteLog, tmp_path: Path
) -> None:
    batches = Batches()
    frame = log_stream(
        spark, LogPlace(tmp_path / "log", 2, True), max_records=1_000, max_bytes=1 << 20
    )
    writer = frame.writeStream.foreachBatch(batches).trigger(processingTime="0 seconds")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        for start in range(0, 40, 10):
            append(log, start, start + 10)
            query.processAllAvailable()
            assert len(batches.records) == start + 10
    finally:
        query.stop()
    assert sorted(batches.records, key=lambda r: (r.partition, r.offset)) == everything(log)


@pytest.mark.spark
def test_a_missing_log_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="there is no log here"):
        run(spark, tmp_path)


def remove_last_commit(checkpoint: Path) -> None:
    commits = checkpoint / "commits"
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    (commits / str(last)).unlink()
    (commits / f".{last}.crc").unlink(missing_ok=True)


def test_a_worker_has_one_log_open(tmp_path: Path) -> None:
    places = [LogPlace(tmp_path / name, 1, False) for name in ("first", "second")]
    for place in places:
        place.open().close()
    first = source._opened(places[0])
    assert source._opened(places[0]) is first
    second = source._opened(places[1])
    assert second.ends() == [0]
    with pytest.raises(StateError, match="closed"):
        first.ends()
