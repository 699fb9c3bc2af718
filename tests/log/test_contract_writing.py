"""What every log promises: a batch is written once."""

from __future__ import annotations

import pytest

from geocast.errors import StateError
from geocast.log import Log
from tests.log.conftest import Logs
from tests.log.records import everything, pairs


def test_a_source_writes_once_in_a_batch(log: Log) -> None:
    assert log.write(1, pairs("a", "b"), query="q", batch=3, source=7)
    assert not log.write(1, pairs("a", "b"), query="q", batch=3, source=7)
    assert log.ends() == [0, 2]
    assert [(r.offset, r.key) for r in everything(log)[1]] == [(0, "a"), (1, "b")]


def test_that_holds_over_partitions_too(log: Log) -> None:
    assert log.write(0, pairs("a"), query="q", batch=3, source=7)
    assert not log.write(1, pairs("a"), query="q", batch=3, source=7)
    assert log.ends() == [1, 0]


def test_other_sources_batches_and_queries_write_too(log: Log) -> None:
    for query, batch, source in [("q", 0, 0), ("q", 0, 1), ("q", 1, 0), ("r", 0, 0)]:
        assert log.write(0, pairs("same"), query=query, batch=batch, source=source)
    assert log.ends() == [4, 0]


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
    assert log.ends() == [2, 0]


def test_written_and_appended_records_share_offsets_and_times(logs: Logs) -> None:
    log = logs.open(1, clock=lambda: 10)
    log.append(pairs("a"))
    log.write(0, pairs("b", "c"), query="q", batch=0, source=0)
    log.append(pairs("d"))
    assert [(r.offset, r.time, r.key) for r in everything(log)[0]] == [
        (0, 10, "a"),
        (1, 11, "b"),
        (2, 12, "c"),
        (3, 13, "d"),
    ]


def test_a_batch_that_nobody_remembers_is_refused(log: Log) -> None:
    for batch in (0, 1, 1_000):
        assert log.write(0, pairs("a"), query="q", batch=batch, source=0)
    assert not log.write(0, pairs("a"), query="q", batch=1, source=0)
    with pytest.raises(StateError, match="batch 0 of 'q' is too old to tell"):
        log.write(0, pairs("a"), query="q", batch=0, source=0)
    assert log.ends() == [3, 0]
