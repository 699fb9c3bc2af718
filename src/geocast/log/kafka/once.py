"""What a streaming job writes: all records of a source in a batch, once.

A source has a transactional id of its own: whoever begins to write for it fences off an earlier
writer, whose transaction then never commits. Which batches a source has written is kept as the
committed offset of a consumer group, in the same transaction as the records: the offset is the
newest batch plus one, and the metadata are the thousand batches up to it, as bits. Brokers forget
that after a while without batches (`offsets.retention.minutes`); then the last record tells: it
names its source and batch, and a source writes its batches in their order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Final

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from geocast.errors import StateError
from geocast.log.kafka.client import SECONDS, Clients
from geocast.log.kafka.reader import PartitionReader
from geocast.log.kafka.topics import LARGEST_RECORD, Topic, Topics

__all__ = ["Register", "SourceWriter", "group_of", "remembered"]

_REMEMBERED: Final = 1_000
_ATTEMPTS: Final = 30
_PAUSE_SECONDS: Final = 0.2
_CONTENT: Final = ("content-type", b"application/json")
_BATCH: Final = "geocast-batch"
_SOURCE: Final = "geocast-source"
_AHEAD: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Register:
    """The newest batch that was written, and which of those before it were, as bits from it on."""

    last: int = -1
    bits: int = 0

    def has(self, batch: int) -> bool:
        """Whether a batch was written."""
        return 0 <= self.last - batch < _REMEMBERED and bool(self.bits >> (self.last - batch) & 1)

    def forgot(self, batch: int) -> bool:
        """Whether a batch is too old to tell."""
        return batch <= self.last - _REMEMBERED

    def plus(self, batch: int) -> Register:
        """Return the register with one more batch."""
        if batch <= self.last:
            return Register(self.last, self.bits | 1 << (self.last - batch))
        shifted = self.bits << min(batch - self.last, _REMEMBERED) | 1
        return Register(batch, shifted & ((1 << _REMEMBERED) - 1))

    @classmethod
    def through(cls, batch: int) -> Register:
        """Return the register of a source that has written all batches up to this one."""
        return cls(batch, (1 << _REMEMBERED) - 1)


def group_of(topic: str, query: str, source: int) -> str:
    """Return the consumer group that remembers what a source has written."""
    return f"{topic}.{query}.{source}"


def remembered(clients: Clients, consumer: Consumer, topic: Topic) -> dict[int, Register]:
    """Return what the group of a consumer remembers, by the partition that was written to."""
    places = [TopicPartition(topic.name, number) for number in range(topic.partitions)]
    return {
        place.partition: Register(place.offset - 1, int(place.metadata or "0", 16))
        for place in clients.committed(consumer, places)
        if place.offset >= 0
    }


class SourceWriter:
    """Writes what one source of a query has, batch by batch; for one thread at a time.

    As long as it is not fenced off it knows what was written, and needs to ask nobody.
    """

    def __init__(self, clients: Clients, topic: Topic, query: str, source: int) -> None:
        self._clients = clients
        self._place = topic
        self._topic = topic.name
        self._query = query
        self._source = f"{query}/{source}".encode()
        self._group = group_of(topic.name, query, source)
        self._opened: Producer | None = None
        self._consumer: Consumer | None = None
        self._registers: dict[int, Register] = {}

    def write(self, partition: int, records: Sequence[tuple[str, bytes]], batch: int) -> bool:
        """Write the records of a batch unless that was done before; tell if it was now."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._write(partition, records, batch)
            except KafkaException as error:
                # What became of the transaction is known after the next one has begun.
                self._drop()
                if attempt == _ATTEMPTS - 1:
                    raise StateError(self._clients.sentence(error.args[0])) from error
                # Tasks of a source move between workers: the first time is no quarrel.
                time.sleep(random.random() * _PAUSE_SECONDS if attempt else 0.0)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Let go of the connections."""
        self._drop()
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _write(self, partition: int, records: Sequence[tuple[str, bytes]], batch: int) -> bool:
        producer = self._producer()
        if not self._registers and batch > 0:
            self._registers = self._told_by(partition)
        self._check_remembered(batch)
        if any(register.has(batch) for register in self._registers.values()):
            return False
        mine = self._registers.get(partition, Register()).plus(batch)
        mark = TopicPartition(self._topic, partition, mine.last + 1, metadata=f"{mine.bits:x}")
        producer.begin_transaction()
        headers = [_CONTENT, (_BATCH, b"%d" % batch), (_SOURCE, self._source)]
        for key, value in records:
            _produce(producer, self._topic, partition, key, value, headers)
        self._clients.commit(producer, [mark], self._member())
        self._registers[partition] = mine
        return True

    def _producer(self) -> Producer:
        """Return the producer; a new one has fenced off all others, and knows what they wrote."""
        if self._opened is None:
            producer = self._clients.producer(
                transactional_id=self._group,
                transaction_timeout_ms=30_000,
                linger_ms=5,
                retry_backoff_ms=20,
                compression_type="lz4",
                message_max_bytes=LARGEST_RECORD,
                queue_buffering_max_messages=1_000_000,
            )
            self._clients.connect(producer, self._topic)
            producer.init_transactions(SECONDS)
            self._registers = remembered(self._clients, self._member(), self._place)
            self._opened = producer
        return self._opened

    def _told_by(self, partition: int) -> dict[int, Register]:
        """Return what the last record of a partition tells of this source, if it is its own."""
        end = partial(Topics(self._clients).end, self._place, partition)
        reader = PartitionReader(self._clients, self._topic, partition, bytes, end, ahead=_AHEAD)
        with closing(reader):
            message = reader.newest()
        told = dict(message.headers() or []) if message is not None else {}
        if told.get(_SOURCE) != self._source:
            return {}
        return {partition: Register.through(int(told[_BATCH]))}

    def _member(self) -> Consumer:
        if self._consumer is None:
            self._consumer = self._clients.consumer(group_id=self._group)
        return self._consumer

    def _check_remembered(self, batch: int) -> None:
        for register in self._registers.values():
            if register.forgot(batch):
                raise StateError(
                    f"{self._topic}: batch {batch} of {self._query!r} is too old to tell whether "
                    f"it was written: the newest is {register.last}, and {_REMEMBERED} are "
                    "remembered"
                )

    def _drop(self) -> None:
        producer, self._opened = self._opened, None
        if producer is not None:
            producer.purge()


def _produce(
    producer: Producer,
    topic: str,
    partition: int,
    key: str,
    value: bytes,
    headers: list[tuple[str, bytes]],
) -> None:
    while True:
        try:
            producer.produce(topic, value, key.encode(), partition=partition, headers=headers)
            return
        except BufferError:
            producer.poll(0.1)
