"""What Kafka alone allows: publications taken from their topic and written to another as they are.

As many plain processes as the core is measured with, each with the records of its own partitions.
Nothing is read of the records, nothing matched and nothing remembered: no pipeline that reads the
same records and writes as much for each of them can be faster.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from geocast.bench.kafka.system import MATCHING, KafkaService
from geocast.bench.kafka.yardstick import PROCESSES
from geocast.errors import GeocastError
from geocast.log.kafka.client import Clients
from geocast.log.kafka.options import KafkaOptions
from geocast.log.kafka.topics import Topics

__all__ = ["measure_carrying"]

_TOGETHER: Final = 10_000
_AT_ONCE: Final = 2_000
_SECONDS: Final = 60.0


def measure_carrying(service: KafkaService) -> float:
    """Return how many of the publications in the topic can be carried over in a second."""
    options = service.options
    topics = Topics(Clients(options))
    partitions = topics.ensure(service.publications, service.settings.partitions).partitions
    out = topics.ensure(f"{options.prefix}.bench-carried", partitions).name
    with (
        service.held((*MATCHING, "deliver")),
        ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool,
    ):
        shares = [tuple(range(partitions))[number::PROCESSES] for number in range(PROCESSES)]
        # Once without counting, so that brokers and clients are warm.
        for _ in range(2):
            began = time.perf_counter()
            work = [pool.submit(_carry, options, service.publications, out, one) for one in shares]
            count = sum(one.result() for one in work)
            seconds = time.perf_counter() - began
    return count / seconds


def _carry(options: KafkaOptions, topic: str, out: str, partitions: tuple[int, ...]) -> int:
    """Carry all records of some partitions over, some thousand in a transaction; count them."""
    clients = Clients(options)
    count = 0
    for partition in partitions:
        producer = clients.producer(
            transactional_id=f"{out}.{partition}",
            linger_ms=5,
            compression_type="lz4",
            queue_buffering_max_messages=1_000_000,
        )
        clients.connect(producer, out)
        producer.init_transactions(_SECONDS)
        for messages in _transactions(_messages(clients, topic, partition)):
            producer.begin_transaction()
            for message in messages:
                _produce(producer, out, message)
            producer.commit_transaction(_SECONDS)
            count += len(messages)
    return count


def _messages(clients: Clients, topic: str, partition: int) -> Iterator[Message]:
    """Yield the records of a partition up to its end."""
    with closing(clients.consumer(enable_partition_eof=True)) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0)])
        while True:
            first = consumer.poll(_SECONDS)
            if first is None:
                raise GeocastError(f"partition {partition} of {topic} gives no records")
            for message in (first, *consumer.consume(_AT_ONCE, 0)):
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                else:
                    raise KafkaException(error)


def _transactions(messages: Iterator[Message]) -> Iterator[list[Message]]:
    waiting: list[Message] = []
    for message in messages:
        waiting.append(message)
        if len(waiting) == _TOGETHER:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _produce(producer: Producer, topic: str, message: Message) -> None:
    while True:
        try:
            producer.produce(
                topic, message.value(), message.key(), partition=message.partition() or 0
            )
            return
        except BufferError:
            producer.poll(0.1)
