"""What every log promises: a batch is written once."""

from __future__ import annotations

import time

import pytest

from geocast.errors import StateError
from geocast.log import Log
from tests.log.conftest import Logs
from tests.log.records import everything, pairs


def keys(log: Log, number: int) -> list[list[str]]:
    """The keys in the log once there are that many: what is durable may be seen a moment later."""
    deadline = time.monotonic() + 60
    while True:
        found = [[record.key for record in part] for part in everything(log)]
        if sum(map(len, found)) >= number or time.monotonic() > deadline:
            return found
        time.sleep(0.01)


def test_a_source_writes_once_in_a_batch(log: Log) -> None:
    assert log.write(1, pairs("a", "b"), query="q", batch=3, source=7)
    assert not log.write(1, pairs("a", "b"), query="q", batch=3, source=7)
    assert keys(log, 2) == [[], ["a", "b"]]
    assert [r.offset for r in everything(log)[1]] == [0, 1]


def test_that_holds_over_partitions_too(log: Log) -> None:
    assert log.write(0, pairs("a"), query="q", batch=3, source=7)
    assert not log.write(1, pairs("a"), query="q", batch=3, source=7)
    assert keys(log, 1) == [["a"], []]


def test_other_sources_batches_and_queries_write_too(log: Log) -> None:
    for query, batch, source in [("q", 0, 0), ("q", 0, 1), ("q", 1, 0), ("r", 0, 0)]:
        assert log.write(0, pairs("same"), query=query, batch=batch, source=source)
    assert keys(log, 4) == [["same"] * 4, []]


def test_what_was_written_is_known(logs: Logs) -> None:
    log = logs.open()
    log.write(0, pairs("a"), query="q", batch=3, source=7)
    log.write(1, [], query="q", batch=3, source=8)
    log.close()
    log = logs.open()
    assert log.written("q", 3) == {7, 8}
    assert log.written("q", 2) == log.written("r", 3) == set()
    assert not log.write(1, [], query="q", batch=3, source=8)


def test_keys_need_not_be_unique_in_writing(log: Log) -> None:
    assert log.write(0, pairs("a", "a"), query="q", batch=0, source=0)
    assert keys(log, 2) == [["a", "a"], []]


def test_written_and_appended_records_share_offsets_and_times(logs: Logs) -> None:
    log = logs.open(1)
    log.append(pairs("a"))
    log.write(0, pairs("b", "c"), query="q", batch=0, source=0)
    (last,) = log.append(pairs("d"))
    assert keys(log, 4) == [["a", "b", "c", "d"]]
    found = everything(log)[0]
    assert [r.offset for r in found[:3]] == [0, 1, 2]
    assert found[3].offset == last.offset >= 3
    assert [r.time for r in found] == sorted(r.time for r in found)


def test_reading_goes_on_over_what_ends_a_transaction(logs: Logs) -> None:
    log = logs.open(1)
    for batch in range(5):
        log.write(0, pairs(f"{batch}/a", f"{batch}/b"), query="q", batch=batch, source=0)
    assert len(keys(log, 10)[0]) == 10
    seen: list[str] = []
    start = 0
    while (batch := log.read(0, start, max_records=3)).num_rows:
        seen += batch["key"].to_pylist()
        start = batch["offset"][-1].as_py() + 1
    assert seen == [f"{number}/{letter}" for number in range(5) for letter in "ab"]
    assert start <= log.ends()[0]
    assert not log.read(0, log.ends()[0]).num_rows


def test_a_batch_that_nobody_remembers_is_refused(log: Log) -> None:
    for batch in (0, 1, 1_000):
        assert log.write(0, pairs("a"), query="q", batch=batch, source=0)
    assert not log.write(0, pairs("a"), query="q", batch=1, source=0)
    with pytest.raises(StateError, match="batch 0 of 'q' is too old to tell"):
        log.write(0, pairs("a"), query="q", batch=0, source=0)
    assert keys(log, 3) == [["a"] * 3, []]
