"""`geocast up` with Kafka and PostgreSQL, as a user has it; killed in the middle, and judged."""

from __future__ import annotations

import json
import random
import time
from contextlib import closing

import pytest
from confluent_kafka import Producer

from geocast.bench.service import ServiceUnderTest
from geocast.repository import Repository
from tests.kafka.world import expected, feature, standing, wait_heard, write

pytestmark = [pytest.mark.service, pytest.mark.timeout(300)]


def test_over_http_and_directly_each_once(service: ServiceUnderTest, direct: Producer) -> None:
    with service.client() as client:
        standing(client, "a")
        one, two, three = (feature(name, 9, 45) for name in ("http", "direct", "event"))
        client.publish(one, id="http")
        client.publish(one, id="http")
        for _ in range(2):
            write(direct, "admin/direct", json.dumps(two).encode())
            write(direct, "admin/http", json.dumps(one).encode())
        event = {"specversion": "1.0", "id": "1", "source": "/x", "type": "t", "data": three}
        write(direct, "admin/event", json.dumps(event).encode())
        must = expected("a", [one, two, three])
        assert wait_heard(client, "a", must.total()) == must


def test_bad_records_become_dead_letters(service: ServiceUnderTest, direct: Producer) -> None:
    good = json.dumps(feature("x", 1, 41)).encode()
    write(direct, None, good)
    write(direct, None, good)
    write(direct, "admin/other", good)
    write(direct, "admin/broken", b"{")
    deadline = time.monotonic() + 240
    while len(reasons := dead_letters(service)) < 4:
        assert time.monotonic() < deadline, reasons
        time.sleep(0.2)
    text = "\n".join(reasons)
    assert len(reasons) == 4
    assert "not PUBLISHER/ID" in text
    assert "names the id 'other', but the Feature has 'x'" in text


def dead_letters(service: ServiceUnderTest) -> list[str]:
    with closing(Repository.open(service.place.repository)) as repository:
        return [letter.reason for letter in repository.dead_letters.page(limit=100)]


def test_killed_in_the_middle_each_match_is_notified_once(
    service: ServiceUnderTest, direct: Producer
) -> None:
    chance = random.Random(7)
    features = [
        feature(f"k{i}", chance.uniform(-2, 22), chance.uniform(38, 52)) for i in range(400)
    ]
    with service.client() as client:
        standing(client, "k")
        for start in range(0, 400, 20):
            part = features[start : start + 20]
            client.publish_many(part[:10])
            for one in part[10:]:
                direct.produce("up.publications", json.dumps(one).encode(), f"admin/{one['id']}")
            direct.flush(30)
            if start in (80, 240):
                service.kill("deliver")
                service.kill("pipeline")
            if start == 160:
                service.kill("worker")
        for one in features[:50]:
            direct.produce("up.publications", json.dumps(one).encode(), f"admin/{one['id']}")
        direct.flush(30)
        must = expected("k", features)
        assert wait_heard(client, "k", must.total(), 150) == must
