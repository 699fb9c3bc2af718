"""Reading one partition: ranges of offsets, which may have gaps, as RECORDS."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from geocast.errors import StateError
from geocast.log.base import RECORDS
from geocast.log.kafka.client import SECONDS, Clients

__all__ = ["Decode", "PartitionReader"]

Decode = Callable[[bytes], bytes]
"""Gives the value of a record for what the topic holds."""

_AT_ONCE: Final = 2_000
_WAIT_SECONDS: Final = 1.0
_MILLISECOND: Final = 1_000


class PartitionReader:
    """Reads ranges of one partition; whoever goes on where the last range ended waits least.

    A client that reads fetches ahead, so one that stands at the wanted offset has the records
    already. Several threads may use a reader, one at a time does. `end` gives the offset behind
    the last record that is committed. `ahead` are the bytes that are fetched ahead at most.
    """

    def __init__(
        self,
        clients: Clients,
        topic: str,
        partition: int,
        decode: Decode,
        end: Callable[[], int],
        *,
        ahead: int,
    ) -> None:
        self._ahead = ahead
        self._clients = clients
        self._end = end
        self._topic = topic
        self._number = partition
        self._decode = decode
        self._lock = threading.Lock()
        self._opened: Consumer | None = None
        self._taken: deque[Message] = deque()
        self._next = -1
        self._ended = -1

    def read(
        self, start: int, stop: int | None, max_records: int, max_bytes: int
    ) -> pa.RecordBatch:
        """Return records in [start, stop) within the bounds; see `Log.read`."""
        # Asked for by another connection: on this one a fetch that waits would be in the way.
        end = self._end()
        start, stop = max(start, 0), end if stop is None else min(stop, end)
        with self._lock, self._clients.sentences():
            found = self._range(start, stop, max_records, max_bytes) if start < stop else []
        return self._batch(found)

    def tail(self, start: int, stop: int, max_records: int, max_bytes: int) -> pa.RecordBatch:
        """Return the last records in [start, stop) within the bounds; see `Log.tail`.

        Not every offset has a record, so what is read begins earlier and earlier until there
        are enough.
        """
        return self._batch(self._tail(start, min(stop, self._end()), max_records, max_bytes))

    def newest(self) -> Message | None:
        """Return the last record as the library has it, if there is one."""
        found = self._tail(0, self._end(), 1, 1)
        return found[0] if found else None

    def _tail(self, start: int, stop: int, max_records: int, max_bytes: int) -> list[Message]:
        reach = max_records
        with self._lock, self._clients.sentences():
            while True:
                first = max(start, 0, stop - reach)
                found, cut = self._last(first, stop, max_records, max_bytes)
                if cut or first <= max(start, 0) or len(found) == max_records:
                    return list(found)
                reach *= 2

    def _last(
        self, start: int, stop: int, max_records: int, max_bytes: int
    ) -> tuple[deque[Message], bool]:
        """Read a range and keep its end; tell whether `max_bytes` cut it short."""
        found: deque[Message] = deque(maxlen=max_records)
        while start < stop and (more := self._range(start, stop, _AT_ONCE, max_bytes)):
            found.extend(more)
            start = self._next
        size, cut = sum(map(_size, found)), False
        while size > max_bytes and len(found) > 1:
            size -= _size(found.popleft())
            cut = True
        return found, cut

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _consumer(self) -> Consumer:
        if self._opened is None:
            self._opened = self._clients.consumer(
                enable_partition_eof=True,
                fetch_wait_max_ms=20,
                fetch_queue_backoff_ms=20,
                queued_min_messages=50_000,
                queued_max_messages_kbytes=self._ahead >> 10,
            )
        return self._opened

    def _range(self, start: int, stop: int, max_records: int, max_bytes: int) -> list[Message]:
        if start != self._next:
            self._consumer().assign([TopicPartition(self._topic, self._number, start)])
            self._taken.clear()
            self._ended = -1
        # Until all is found: after a failure the next one begins anew.
        self._next = -1
        found: list[Message] = []
        size = 0
        while len(found) < max_records and self._available(stop):
            message = self._taken[0]
            self._check(message, start)
            size += _size(message)
            if message.offset() >= stop or (found and size > max_bytes):
                break
            found.append(self._taken.popleft())
        self._next = found[-1].offset() + 1 if found else start
        return found

    def _check(self, message: Message, start: int) -> None:
        """Raise StateError where a broker gave what nobody asked for.

        One that was cut off from the others may end before `start`, and begin from the front.
        """
        if message.offset() < start:
            raise StateError(
                f"{self._clients.options.url}: partition {self._number} of {self._topic} was asked "
                f"for offset {start} and gave {message.offset()}"
            )

    def _available(self, stop: int) -> bool:
        """Have the next record at hand; False where there is none before `stop`."""
        deadline = time.monotonic() + SECONDS
        while not self._taken and self._ended < stop:
            if time.monotonic() > deadline:
                raise StateError(
                    f"{self._clients.options.url}: partition {self._number} of {self._topic} "
                    f"gives no records within {SECONDS:.0f} s"
                )
            self._fetch()
        return bool(self._taken)

    def _fetch(self) -> None:
        consumer = self._consumer()
        first = consumer.poll(_WAIT_SECONDS)
        if first is None:
            return
        for message in (first, *consumer.consume(_AT_ONCE, 0)):
            error = message.error()
            if error is None:
                self._taken.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended = max(self._ended, message.offset())
            elif not error.retriable():
                raise KafkaException(error)

    def _batch(self, found: list[Message]) -> pa.RecordBatch:
        columns = [
            pa.array(np.full(len(found), self._number, dtype=np.int32)),
            pa.array([message.offset() for message in found], pa.int64()),
            pa.array([message.timestamp()[1] * _MILLISECOND for message in found], pa.int64()),
            pa.array([_text(message.key()) for message in found], pa.string()),
            pa.array([self._decode(message.value() or b"") for message in found], pa.binary()),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=RECORDS)


def _size(message: Message) -> int:
    return len(message.key() or b"") + len(message.value() or b"")


def _text(key: bytes | None) -> str:
    """Return a key as text; anybody may write to a topic, also what is none."""
    return (key or b"").decode(errors="backslashreplace")
