"""Topics of subscribers: written in transactions, and each message once.

How far a topic was written is kept as the committed offset of a consumer group, in the same
transaction as the messages: so whoever comes next knows what stands there. Brokers forget that
after a while without messages (`offsets.retention.minutes`); then the last message tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from geocast.errors import StateError
from geocast.log.kafka.client import SECONDS, Clients
from geocast.log.kafka.options import KafkaOptions
from geocast.log.kafka.reader import PartitionReader
from geocast.log.kafka.topics import LARGEST_RECORD, Topics

__all__ = ["Message", "SubscriberTopics"]

_MARK: Final = "geocast-cursor"
_AHEAD: Final = 1 << 20
_CONFIG: Final = {"max.message.bytes": str(LARGEST_RECORD)}


@dataclass(frozen=True, slots=True)
class Message:
    """What is written to a topic; `cursor` orders the messages of one topic."""

    cursor: int
    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]] = field(default_factory=list)


class SubscriberTopics:
    """Writes to topics of subscribers of an installation; for one thread at a time.

    `name` is that of whoever writes: of two with the same name the later one fences off the
    earlier, whose next `write` raises StateError and has written nothing. So a topic must always
    be written under the same name.
    """

    def __init__(self, options: KafkaOptions, deployment: str, name: str = "deliver") -> None:
        self._clients = Clients(options)
        self._topics = Topics(self._clients)
        self._deployment = deployment
        self._group = f"{options.prefix}.to.{deployment}"
        self._writer = f"{options.prefix}.{name}.{deployment}"
        self._known: set[str] = set()
        self._written: dict[str, int] = {}
        self._producer: Producer | None = None
        self._consumer: Consumer | None = None

    def written(self, topic: str) -> int:
        """Return the newest cursor that was written to a topic; 0 at first."""
        if self._producer is None:
            self._open()
        if topic not in self._written:
            assert self._consumer is not None
            (place,) = self._clients.committed(self._consumer, [TopicPartition(topic, 0)])
            known = place.offset > 0
            self._written[topic] = place.offset - 1 if known else self._last_cursor(topic)
        return self._written[topic]

    def _last_cursor(self, topic: str) -> int:
        """Return what the last message says; 0 where there is none of this installation."""
        found = self._topics.describe(topic)
        if found is None:
            return 0
        end = partial(self._topics.end, found, 0)
        with closing(PartitionReader(self._clients, topic, 0, bytes, end, ahead=_AHEAD)) as reader:
            message = reader.newest()
        mark = dict(message.headers() or []).get(_MARK, b"") if message is not None else b""
        deployment, _, cursor = mark.decode(errors="replace").partition("/")
        return int(cursor) if deployment == self._deployment and cursor.isdigit() else 0

    def write(self, messages: Mapping[str, Iterable[Message]]) -> None:
        """Write messages to their topics, all or none; topics that are missing are made.

        Each is taken when it is written. They must be behind what `written` says. Raises StateError
        where it fails, and knows at the next call what was written.
        """
        if self._producer is None:
            self._open()
        for topic in messages.keys() - self._known:
            self._topics.ensure(topic, 1, _CONFIG)
            self._known.add(topic)
        try:
            self._write(messages)
        except KafkaException as error:
            self.close()
            raise StateError(self._clients.sentence(error.args[0])) from error

    def close(self) -> None:
        """Let go of the connections; what was begun does not happen."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _write(self, messages: Mapping[str, Iterable[Message]]) -> None:
        assert self._producer is not None
        assert self._consumer is not None
        newest: dict[str, int] = {}
        self._producer.begin_transaction()
        for topic, group in messages.items():
            for message in group:
                self._produce(self._producer, topic, message)
                newest[topic] = message.cursor
        marks = [TopicPartition(topic, 0, cursor + 1) for topic, cursor in newest.items()]
        self._clients.commit(self._producer, marks, self._consumer)
        self._written |= newest

    def _produce(self, producer: Producer, topic: str, message: Message) -> None:
        mark = (_MARK, f"{self._deployment}/{message.cursor}".encode())
        headers = [*message.headers, mark]
        while True:
            try:
                producer.produce(topic, message.value, message.key, headers=headers)
                return
            except BufferError:
                producer.poll(0.1)

    def _open(self) -> None:
        producer = self._clients.producer(
            transactional_id=self._writer,
            transaction_timeout_ms=30_000,
            linger_ms=5,
            retry_backoff_ms=20,
            # Features repeat names of properties, and values: farther apart than LZ4 looks.
            compression_type="zstd",
            compression_level=1,
            partitioner="murmur2",
            message_max_bytes=LARGEST_RECORD,
            queue_buffering_max_messages=1_000_000,
        )
        self._clients.patiently(lambda: self._clients.connect(producer))
        self._clients.patiently(lambda: producer.init_transactions(SECONDS))
        self._written = {}
        self._consumer = self._clients.consumer(group_id=self._group)
        self._producer = producer
