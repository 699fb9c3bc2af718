"""Records to a topic, one after the other, each acknowledged by all replicas in step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from geocast.errors import InputError
from geocast.log.base import Position
from geocast.log.kafka.client import SECONDS, Clients
from geocast.log.kafka.topics import LARGEST_RECORD

__all__ = ["Headers", "TopicAppender", "encoded"]

Headers = Callable[[str], list[tuple[str, bytes]]]
"""Gives the headers of the record of a key."""


def encoded(key: str) -> bytes:
    """Return a key as a topic holds it; raises InputError where it is no text."""
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise InputError(f"the key {key!r} is no valid text") from None


class TopicAppender:
    """Appends to one topic; the idempotent producer neither repeats nor reorders."""

    def __init__(self, clients: Clients, topic: str, headers: Headers) -> None:
        self._clients = clients
        self._topic = topic
        self._headers = headers
        self._opened: Producer | None = None
        self._lock = threading.Lock()

    def append(self, records: Sequence[tuple[str, bytes]]) -> list[Position]:
        """Append all records, and return where they stand."""
        found: list[Position | None] = [None] * len(records)
        failures: list[KafkaError] = []

        def report(row: int) -> Callable[[KafkaError | None, Message], None]:
            def delivered(error: KafkaError | None, message: Message) -> None:
                if error is not None:
                    failures.append(error)
                else:
                    found[row] = _position(message)

            return delivered

        with self._lock, self._clients.sentences():
            producer = self._producer()
            try:
                for row, (key, value) in enumerate(records):
                    self._produce(producer, key, value, report(row))
                producer.flush(2 * SECONDS)
            except BaseException:
                self._give_up(producer)
                raise
            missing = [position for position in found if position is None]
            if failures or missing:
                self._give_up(producer)
                raise KafkaException(failures[0] if failures else KafkaError(_TIMED_OUT))
        return [position for position in found if position is not None]

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._opened = None

    def _producer(self) -> Producer:
        if self._opened is None:
            self._opened = self._clients.producer(
                linger_ms=2,
                compression_type="lz4",
                # As Java's own clients do, so that all writers agree where a key belongs.
                partitioner="murmur2",
                message_max_bytes=LARGEST_RECORD,
                delivery_timeout_ms=int(SECONDS * 1000),
                queue_buffering_max_messages=1_000_000,
            )
        return self._opened

    def _produce(
        self,
        producer: Producer,
        key: str,
        value: bytes,
        report: Callable[[KafkaError | None, Message], None],
    ) -> None:
        headers = self._headers(key)
        while True:
            try:
                producer.produce(
                    self._topic, value, key.encode(), headers=headers, on_delivery=report
                )
                return
            except BufferError:
                producer.poll(0.1)

    def _give_up(self, producer: Producer) -> None:
        """What was not acknowledged must not be written later, behind what follows."""
        producer.purge()
        self._opened = None


_TIMED_OUT = KafkaError._MSG_TIMED_OUT


def _position(message: Message) -> Position:
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    return Position(partition, offset, message.timestamp()[1] * 1_000, True)
