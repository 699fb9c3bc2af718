"""Reading a partition while brokers fail, or know less than others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest
from confluent_kafka import TopicPartition

from geocast.errors import StateError
from geocast.log.kafka import KafkaLog, KafkaOptions
from geocast.log.kafka.reader import PartitionReader

COUNT = 10


@pytest.fixture
def log(kafka: str) -> Iterator[KafkaLog]:
    options = KafkaOptions.of(f"kafka://{kafka}/t{uuid4().hex[:8]}")
    with closing(KafkaLog.open(options, "log", 1)) as found:
        found.append([(f"k{n}", b"%d" % n) for n in range(COUNT)])
        yield found


def offsets(log: KafkaLog, start: int = 0) -> list[int]:
    found: list[int] = log.read(0, start)["offset"].to_pylist()
    return found


def test_what_was_read_before_a_failure_is_read_again(
    log: KafkaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    available = PartitionReader._available
    calls = 0

    def fails_once(self: PartitionReader, stop: int) -> bool:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise StateError("no records")
        return available(self, stop)

    monkeypatch.setattr(PartitionReader, "_available", fails_once)
    with pytest.raises(StateError, match="no records"):
        offsets(log)
    assert offsets(log) == list(range(COUNT))


def test_records_that_nobody_asked_for_are_refused(log: KafkaLog) -> None:
    """A broker that was cut off may end before the wanted offset, and begin from the front."""
    assert offsets(log) == list(range(COUNT))
    reader = log._readers[0]
    reader._consumer().assign([TopicPartition(log.topic, 0, 0)])
    reader._next, reader._ended = 5, -1
    with pytest.raises(StateError, match="asked for offset 5 and gave 0"):
        offsets(log, 5)
    assert offsets(log, 5) == list(range(5, COUNT))


def test_keys_are_not_taken_from_a_broker_that_knows_too_little(
    log: KafkaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert log._read_whole(0, 0, COUNT).num_rows == COUNT
    with pytest.raises(StateError, match="ends at 10, before offset 12"):
        log._read_whole(0, COUNT, COUNT + 2)
