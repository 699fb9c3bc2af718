"""Several processes deliver from Kafka and to topics: killed, stopped for a while, and judged."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from geocast.log import matches
from geocast.operate import Place, Settings
from geocast.repository.membership import LEASE_SECONDS
from tests.deliver.receiver import until
from tests.deliver.team import team
from tests.deliver.world import World, record
from tests.postgres import Server

PARTITIONS = 3
ACCOUNTS = 10
EACH = 3


def committed(kafka: str, topics: list[str], seconds: float) -> dict[str, list[dict[str, object]]]:
    """What stands in the topics, read to their ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka,
            "group.id": "judge",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
    found: dict[str, list[dict[str, object]]] = {topic: [] for topic in topics}
    ended: set[str] = set()
    deadline = time.monotonic() + seconds
    while len(ended) < len(topics) and time.monotonic() < deadline:
        for message in consumer.consume(1_000, 0.5):
            name = str(message.topic())
            if message.error():
                ended.add(name)
            else:
                found[name].append(json.loads(message.value() or b""))
    consumer.close()
    return found


@pytest.mark.timeout(240)
def test_each_match_stands_in_its_topic_once_whoever_is_killed_or_stopped(
    tmp_path: Path, kafka: str, postgres: Server
) -> None:
    prefix = "team"
    environment = {"GEOCAST_LOG": f"kafka://{kafka}/{prefix}", "GEOCAST_PARTITIONS": "3"}
    settings = Settings.of(environment)
    place = Place(tmp_path)
    with postgres.database() as url, closing(World(url)) as world:
        environment["GEOCAST_REPOSITORY"] = url
        versions: list[int] = []
        topics = [f"{prefix}.to.reader{number}" for number in range(ACCOUNTS)]
        for number, topic in enumerate(topics):
            account = world.account(f"reader{number}")
            endpoint = world.repository.endpoints.put(account.number, f"kafka:{topic}", "")
            versions.append(world.subscribe(account, endpoint).vnumber)
        log = matches(place, settings).open()
        published: list[str] = []

        def publish(batches: int) -> None:
            for _ in range(batches):
                batch = len(published) // PARTITIONS // EACH
                for partition in range(PARTITIONS):
                    offsets = range(batch * EACH, (batch + 1) * EACH)
                    mine = [record(offset, versions, partition=partition) for offset in offsets]
                    values = [(one.id, one.encode()) for one in mine]
                    log.write(partition, values, query="q", batch=batch, source=partition)
                    published.extend(one.id for one in mine)

        def is_done() -> bool:
            read = [world.repository.mailbox.position("deliver", p) for p in range(PARTITIONS)]
            at_end = all(not log.read(p, at).num_rows for p, at in enumerate(read))
            return at_end and world.repository.mailbox.depth() == 0

        with closing(log), team(tmp_path, environment, "a", "b", "c") as members:
            present = world.repository.members.present
            until(lambda: len(present("deliver")) == 3)
            publish(15)
            members.send("a", signal.SIGKILL)
            publish(15)
            members.send("b", signal.SIGSTOP)
            stopped = time.monotonic()
            publish(15)
            until(is_done, LEASE_SECONDS + 60)
            print(f"all in topics {time.monotonic() - stopped:.1f} s after a member was stopped")
            members.start("d")
            members.send("b", signal.SIGCONT)
            until(lambda: len(present("deliver")) == 3)
            publish(15)
            members.send("c", signal.SIGTERM)
            publish(15)
            until(is_done, 60)
        for name in "bd":
            assert "delivery has stopped" in members.journal(name).read_text()
        must = Counter(published)
        for topic, found in committed(kafka, topics, 60).items():
            assert Counter(event["subject"] for event in found) == must, topic
            cursors = [event["geocastcursor"] for event in found]
            assert cursors == sorted(cursors)  # type: ignore[type-var]
