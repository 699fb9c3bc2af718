"""A subscriber's topic: whoever reads what is committed finds each match once."""

from __future__ import annotations

import json
import random
import time
from collections import Counter

import pytest
from confluent_kafka import Consumer, TopicPartition

from geocast.bench.service import ServiceUnderTest
from geocast.errors import ServiceError
from tests.kafka.world import Heard, expected, feature, standing

pytestmark = [pytest.mark.service, pytest.mark.timeout(300)]


def events(kafka: str, topic: str, number: int, seconds: float) -> list[dict[str, object]]:
    """What a consumer reads from the beginning, until there are that many and a little longer."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka,
            "group.id": "anybody",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[dict[str, object]] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for message in consumer.consume(1_000, 0.5):
            assert message.error() is None, message.error()
            found.append(json.loads(message.value() or b""))
        if len(found) >= number:
            deadline = min(deadline, time.monotonic() + 2)
    consumer.close()
    return found


def pairs(found: list[dict[str, object]]) -> Heard:
    told: Heard = Counter()
    for event in found:
        data = event["data"]
        assert isinstance(data, dict)
        for match in data["matches"]:
            told[str(event["subject"]), match["subscription"]] += 1
    return told


def test_each_match_stands_in_the_topic_once_after_kills(
    service: ServiceUnderTest, kafka: str
) -> None:
    token = service.new_account("rea_der.1")
    chance = random.Random(11)
    features = [
        feature(f"t{i}", chance.uniform(-2, 22), chance.uniform(38, 52)) for i in range(600)
    ]
    with service.client(token) as reader, service.client() as publisher:
        standing(reader, "t", topic=True)
        for start in range(0, 600, 30):
            publisher.publish_many(features[start : start + 30])
            if start % 120 == 60:
                service.kill("deliver")
            time.sleep(0.1)
        must = expected("t", features)
        found = events(kafka, "up.to.reaUder.1", len({event for event, _ in must}), 120)
        assert pairs(found) == must
        assert len({event["id"] for event in found}) == len(found)
        cursors = [event["geocastcursor"] for event in found]
        assert cursors == sorted(cursors)  # type: ignore[type-var]
        shown = reader.subscription("t-west")
        assert shown is not None


def test_a_withdrawal_comes_behind_its_match(service: ServiceUnderTest, kafka: str) -> None:
    token = service.new_account("withdrawer")
    with service.client(token) as client:
        area = {"type": "Point", "coordinates": [1, 41]}
        client.subscribe(area, id="w", properties={"topic": True}).wait_active(60)
        client.publish(feature("gone", 1, 41))
        assert len(events(kafka, "up.to.withdrawer", 1, 60)) == 1
        client.unpublish("gone")
        found = events(kafka, "up.to.withdrawer", 2, 60)
    assert [event["type"] for event in found] == [
        "geocast.matches.v1",
        "geocast.withdrawals.v1",
    ]


def test_a_subscription_has_one_channel(service: ServiceUnderTest) -> None:
    with service.client() as client, pytest.raises(ServiceError, match="not both"):
        client.subscribe(
            {"type": "Point", "coordinates": [1, 41]},
            webhook="https://example.org/hook",
            properties={"topic": True},
        )
