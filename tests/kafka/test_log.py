"""What only logs in Kafka have: topics, who owns them, and records that anybody wrote."""

from __future__ import annotations

import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import OFFSET_INVALID, Producer
from confluent_kafka.admin import AdminClient

from geocast.errors import StateError
from geocast.log.kafka import KafkaLog, KafkaOptions
from geocast.log.kafka.client import Clients
from geocast.log.kafka.events import feature_of
from geocast.log.kafka.once import Register
from geocast.log.kafka.owner import claim
from geocast.log.kafka.subscribers import Message, SubscriberTopics
from geocast.log.kafka.topics import Topic, Topics


@pytest.fixture
def options(kafka: str) -> KafkaOptions:
    return KafkaOptions.of(f"kafka://{kafka}/t{uuid4().hex[:8]}")


def test_records_written_past_the_log_repeat_what_stands_before(
    options: KafkaOptions, direct: Producer, tmp_path: Path
) -> None:
    log = KafkaLog.open(options, "log", 1, keys=tmp_path / "keys")
    log.append([("a", b"1"), ("b", b"2")])
    for key in ("a", "c", "c"):
        direct.produce(log.topic, b"again", key)
    assert direct.flush(30) == 0
    records = log.read(0, 0)
    assert records["key"].to_pylist() == ["a", "b", "a", "c", "c"]
    assert log.repeats(records) == [False, False, True, False, True]
    assert log.repeats(records.slice(2)) == [True, False, True]
    assert [at.new for at in log.append([("c", b""), ("d", b"")])] == [False, True]
    other = KafkaLog.open(options, "log", 1, keys=tmp_path / "elsewhere")
    assert other.repeats(records.slice(3)) == [False, True]
    for one in (log, other):
        one.close()


def test_keys_whose_records_expired_are_forgotten(options: KafkaOptions, tmp_path: Path) -> None:
    log = KafkaLog.open(options, "log", 1, keys=tmp_path)
    log.append([("a", b"1")])
    log.expire(before=1 << 60)
    assert log.find("a") is None
    assert log.append([("a", b"2")])[0].new
    records = log.read(0, 0)
    assert log.repeats(records) == [False]
    log.close()


def test_topics_belong_to_one_installation(options: KafkaOptions) -> None:
    log = KafkaLog.open(options, "publications", 1)
    claim(options, log.topic, "one")
    claim(options, log.topic, "one")
    with pytest.raises(StateError, match="belong to the installation one, this is two"):
        claim(options, log.topic, "two")
    log.close()


def test_a_topic_of_a_subscriber_goes_on_where_its_last_writer_stopped(
    options: KafkaOptions,
) -> None:
    topic = f"{options.prefix}.to.me"
    first = SubscriberTopics(options, "here")
    assert first.written(topic) == 0
    first.write({topic: [Message(5, b"k", b"five"), Message(9, b"k", b"nine")]})
    second = SubscriberTopics(options, "here")
    assert second.written(topic) == 9
    with pytest.raises(StateError):
        first.write({topic: [Message(10, b"k", b"fenced off")]})
    second.write({topic: [Message(10, b"k", b"ten")]})
    assert SubscriberTopics(options, "elsewhere").written(topic) == 0
    log = KafkaLog.open(options, "to.me", 1)
    values: list[bytes] = []
    while len(values) < 3:
        values = log.read(0, 0)["value"].to_pylist()
    assert values == [b"five", b"nine", b"ten"]
    log.close()
    second.close()


def test_a_topic_whose_register_the_brokers_forgot_tells_by_itself(
    options: KafkaOptions, kafka: str
) -> None:
    topic = f"{options.prefix}.to.forgotten"
    first = SubscriberTopics(options, "here")
    first.write({topic: [Message(5, b"k", b"five"), Message(9, b"k", b"nine")]})
    first.close()
    admin = AdminClient({"bootstrap.servers": kafka})
    group = f"{options.prefix}.to.here"
    admin.delete_consumer_groups([group])[group].result(30)
    second = SubscriberTopics(options, "here")
    assert second.written(topic) == 9
    second.close()
    other = SubscriberTopics(options, "elsewhere")
    assert other.written(topic) == 0, "another installation has cursors of its own"
    other.close()


def test_a_batch_whose_register_the_brokers_forgot_is_not_written_again(
    options: KafkaOptions, kafka: str
) -> None:
    log = KafkaLog.open(options, "matches", 2)
    for batch in (3, 4):
        assert log.write(1, [("k", b"%d" % batch)], query="q", batch=batch, source=1)
    assert log.write(0, [("k", b"4")], query="q", batch=4, source=0)
    log.close()
    admin = AdminClient({"bootstrap.servers": kafka})
    for group in [f"{options.prefix}.matches.q.{source}" for source in (0, 1)]:
        admin.delete_consumer_groups([group])[group].result(30)
    again = KafkaLog.open(options, "matches", 2)
    assert not again.write(1, [("k", b"4")], query="q", batch=4, source=1)
    assert not again.write(1, [("k", b"3")], query="q", batch=3, source=1)
    assert again.write(1, [("k", b"5")], query="q", batch=5, source=1)
    assert again.write(0, [("k", b"x")], query="other", batch=4, source=0)
    values: list[bytes] = []
    while len(values) < 3:
        values = again.read(1, 0)["value"].to_pylist()
    assert values == [b"3", b"4", b"5"]
    again.close()


def test_a_long_range_is_bounded_by_bytes(options: KafkaOptions) -> None:
    log = KafkaLog.open(options, "large", 1)
    log.append([(f"k{i}", b"x" * 1_000) for i in range(3_000)])
    assert 80 <= log.within(0, 0, 3_000, 100_000) <= 100
    assert 1_080 <= log.within(0, 1_000, 3_000, 100_000) <= 1_100
    assert log.within(0, 1_000, 3_000, 1) == 1_001
    assert log.within(0, 0, 3_000, 1 << 30) == 3_000
    assert log.within(0, 2_500, 3_000, 1) == 3_000, "a short range is taken as it is"
    log.close()


def test_a_partition_without_a_leader_is_waited_for(
    options: KafkaOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library answers with an offset that is none, or not at all."""
    answers = [OFFSET_INVALID, None, 7]

    class Admin:
        def list_offsets(self, asked: dict[Any, Any], **_: Any) -> dict[Any, Any]:
            offset = answers.pop(0)
            future: Future[Any] = Future()
            if offset is not None:
                future.set_result(SimpleNamespace(offset=offset))
            return dict.fromkeys(asked, future)

    topics = Topics(Clients(options))
    monkeypatch.setattr(topics, "_admin", Admin)
    monkeypatch.setattr("geocast.log.kafka.topics.SECONDS", 0.1)
    assert topics.end(Topic("t", "id", 1), 0) == 7


def test_a_register_remembers_a_thousand_batches() -> None:
    register = Register()
    for batch in (0, 1, 5, 700):
        register = register.plus(batch)
    assert [batch for batch in range(800) if register.has(batch)] == [0, 1, 5, 700]
    register = register.plus(1_001)
    assert not register.forgot(2)
    assert register.forgot(1)
    assert [batch for batch in range(2, 1_100) if register.has(batch)] == [5, 700, 1_001]
    assert register.plus(6).has(6)
    assert Register().plus(10**9).bits == 1


@pytest.mark.parametrize(
    ("value", "feature"),
    [
        (b'{"type":"Feature","properties":{"specversion":1}}', None),
        (b'{"specversion":"1.0","data":{"type":"Feature"}}', b'{"type":"Feature"}'),
        (b'{"specversion":"1.0"}', None),
        (b'"specversion"', None),
        (b'{"specversion"', None),
        (b"", None),
    ],
)
def test_features_are_taken_out_of_cloud_events(value: bytes, feature: bytes | None) -> None:
    assert feature_of(value) == (value if feature is None else feature)


def test_a_topic_is_removed_where_there_is_one(options: KafkaOptions) -> None:
    topics, name = Topics(Clients(options)), f"{options.prefix}.gone"
    topics.ensure(name, 2)
    topics.remove(name)
    deadline = time.monotonic() + 120
    while topics.describe(name) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    topics.remove(name)
