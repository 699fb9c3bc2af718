"""Somebody who writes publications to the topic without asking the gateway."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any, Final

from confluent_kafka import KafkaError, Message, Producer

from geocast.bench.kafka.scene import ACCOUNT, KafkaScene
from geocast.errors import GeocastError
from geocast.log.kafka.options import KafkaOptions

__all__ = ["Pace", "publish_all", "start_publisher"]

_TICKS: Final = 50
_FLUSH_SECONDS: Final = 120.0
_OWN: Final = f"{ACCOUNT}/".encode()


@dataclass(frozen=True, slots=True)
class Pace:
    """So many publications a second, so many of them in all, called NAME0, NAME1 and so on."""

    rate: float
    total: int
    name: str


def publish_all(options: KafkaOptions, topic: str, records: Iterable[tuple[bytes, bytes]]) -> None:
    """Write records as fast as the brokers take them; all are acknowledged when this returns."""
    producer = _producer(options)
    failures: list[KafkaError] = []
    for key, value in records:
        _produce(producer, topic, key, value, failures)
    _finish(producer, failures)


def start_publisher(
    options: KafkaOptions, topic: str, scene: KafkaScene, pace: Pace, sent: Any
) -> tuple[BaseProcess, Any]:
    """Start to publish steadily, in a process of its own; it tells its worst lag in the end.

    Each has the geometry of the row of its number, counted round. `sent` is an array in shared
    memory that has the moment of each, in seconds since 1970.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    rows = len(scene.geometries)
    records = [scene.record("\0", row)[1] for row in range(rows)]
    arguments = (options, topic, records, pace, sent, sender)
    process = context.Process(target=_publish, args=arguments, daemon=True)
    process.start()
    sender.close()
    return process, receiver


def _publish(
    options: KafkaOptions, topic: str, texts: list[bytes], pace: Pace, sent: Any, sender: Any
) -> None:
    producer = _producer(options)
    producer.list_topics(topic, _FLUSH_SECONDS)
    failures: list[KafkaError] = []
    prefix = pace.name.encode()
    halves = [text.split(b"\0", 1) for text in texts]
    number, worst, began = 0, 0.0, time.monotonic()
    while number < pace.total:
        due = began + number / pace.rate
        late = time.monotonic() - due
        if late < 0:
            time.sleep(max(-late, 1 / _TICKS))
        worst = max(worst, late)
        stop = min(pace.total, int((time.monotonic() - began) * pace.rate) + 1)
        for one in range(number, stop):
            name = b"%b%d" % (prefix, one)
            sent[one] = time.time()
            value = name.join(halves[one % len(halves)])
            _produce(producer, topic, _OWN + name, value, failures)
        number = max(number, stop)
    _finish(producer, failures)
    sender.send(worst)


def _producer(options: KafkaOptions) -> Producer:
    return Producer(
        {
            **options.client(),
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": "murmur2_random",
            "linger.ms": 5,
            "compression.type": "lz4",
        }
    )


def _produce(
    producer: Producer, topic: str, key: bytes, value: bytes, failures: list[KafkaError]
) -> None:
    def told(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    while True:
        try:
            producer.produce(topic, value, key, on_delivery=told)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


def _finish(producer: Producer, failures: list[KafkaError]) -> None:
    left = producer.flush(_FLUSH_SECONDS)
    if failures or left:
        reason = failures[0].str() if failures else "time is up"
        raise GeocastError(f"{left + len(failures):,} publications were not taken: {reason}")
