"""What stands in a subscriber's topic, as any consumer of committed records reads it."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import orjson
from confluent_kafka import Consumer, KafkaException, TopicPartition

from geocast.bench.chaos.judge import Heard
from geocast.deliver.topic_names import topic_name
from geocast.errors import GeocastError
from geocast.log import kafka_options
from geocast.operate import Settings

__all__ = ["read_topic"]

_SECONDS = 30.0
MATCHES = "geocast.matches.v1"
WITHDRAWALS = "geocast.withdrawals.v1"


def read_topic(settings: Settings, account: str) -> tuple[Counter[Heard], Counter[Heard]]:
    """Return the matches and the withdrawals that an account's topic holds, and how often each."""
    topic = topic_name(settings, account)
    told: dict[str, Counter[Heard]] = {MATCHES: Counter(), WITHDRAWALS: Counter()}
    reading = {
        "group.id": "geocast-judge",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    }
    with closing(Consumer({**kafka_options(settings).client(), **reading})) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while (message := consumer.poll(_SECONDS)) is not None:
            error = message.error()
            if error is None:
                _note(orjson.loads(message.value()), told)
            elif error.code() == error._PARTITION_EOF:
                return told[MATCHES], told[WITHDRAWALS]
            elif not error.retriable():
                raise KafkaException(error)
    raise GeocastError(f"{topic} gave no answer within {_SECONDS:.0f} s")


def _note(event: dict[str, object], told: dict[str, Counter[Heard]]) -> None:
    data = event["data"]
    assert isinstance(data, dict)
    heard = told[str(event["type"])]
    for match in data["matches"]:
        heard[data["publication"], match["subscription"], match["version"]] += 1
