"""A log that is a topic of Kafka."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
from confluent_kafka.admin import OffsetSpec

from geocast.errors import StateError
from geocast.log.base import Position, Record
from geocast.log.checks import check_count, check_keep, check_partition, check_partitions
from geocast.log.kafka.appending import Headers, TopicAppender, encoded
from geocast.log.kafka.client import Clients
from geocast.log.kafka.keys import KeyTable
from geocast.log.kafka.once import SourceWriter, group_of, remembered
from geocast.log.kafka.options import KafkaOptions
from geocast.log.kafka.reader import Decode, PartitionReader
from geocast.log.kafka.topics import Topic, Topics

__all__ = ["KafkaLog"]

_MILLISECOND: Final = 1_000
_SHORT: Final = 1_000
_SAMPLE: Final = 50
_AHEAD: Final = 64 << 20
_LITTLE: Final = 1 << 20


def _no_headers(_: str) -> list[tuple[str, bytes]]:
    return []


class KafkaLog:
    """A log in a topic: a `Log`, with these differences, which `Log` allows.

    Offsets have gaps where transactions end. Times are the brokers', in whole milliseconds; those
    of records that arrive together are equal. An append whose process dies may leave the first
    of its records. Keys are unique as far as this log's own table of keys knows: of two processes
    that append a key in the same moment both may succeed, and anybody else may write to the
    topic; `repeats` tells the later records from the first. `find` reads everything where keys
    need not be unique. The size of a topic is bounded by Kafka's own retention, not by `expire`.
    """

    def __init__(
        self,
        options: KafkaOptions,
        topic: Topic,
        keys: Path | None,
        headers: Headers = _no_headers,
        clients: Clients | None = None,
        decode: Decode = bytes,
    ) -> None:
        self._clients = clients or Clients(options)
        self._topics = Topics(self._clients)
        self._topic = topic
        self._decode = decode
        self._readers = [self._new_reader(number, _AHEAD) for number in range(topic.partitions)]
        self._samplers: dict[int, PartitionReader] = {}
        self._appender = TopicAppender(self._clients, topic.name, headers)
        self._keys = (
            None
            if keys is None
            else KeyTable(keys / f"{topic.id}.sqlite", self._read_whole, self.starts)
        )
        self._writers: dict[tuple[str, int], SourceWriter] = {}
        self._lock = threading.Lock()
        self._appending = threading.Lock()
        self._closed = False

    @classmethod
    def open(
        cls,
        options: KafkaOptions,
        name: str,
        partitions: int = 2,
        *,
        keys: Path | None = None,
        headers: Headers = _no_headers,
        decode: Decode = bytes,
    ) -> KafkaLog:
        """Open the log in the topic `prefix.name`, or make it.

        With a directory for its table of `keys`, the log is one of unique keys. `headers` are
        those of what is appended, by its key; `decode` is applied to each value that is read.
        Raises StateError where the topic has other partitions, or no broker lets this client in.
        """
        check_partitions(partitions)
        clients = Clients(options)
        full = f"{options.prefix}.{name}"
        topic = Topics(clients).ensure(full, partitions)
        if topic.partitions != partitions:
            raise StateError(
                f"{options.url}: {full}: the log has {topic.partitions} partitions, "
                f"not {partitions}"
            )
        return cls(options, topic, keys, headers, clients, decode)

    @property
    def name(self) -> str:
        """The id that Kafka gave to the topic when it was made."""
        return self._topic.id

    @property
    def topic(self) -> str:
        """The name of the topic."""
        return self._topic.name

    @property
    def partitions(self) -> int:
        """How many partitions there are."""
        return self._topic.partitions

    @property
    def shared(self) -> bool:
        """Whether others may write to it: whoever Kafka lets in."""
        return True

    def append(self, records: Sequence[tuple[str, bytes]]) -> list[Position]:
        """Append pairs of key and value; see `Log`."""
        self._check_open()
        for key, _ in records:
            encoded(key)
        if not records:
            return []
        if self._keys is None:
            return self._appender.append(records)
        with self._appending:
            return self._append_unique(self._keys, records)

    def write(
        self,
        partition: int,
        records: Sequence[tuple[str, bytes]],
        *,
        query: str,
        batch: int,
        source: int,
    ) -> bool:
        """Write what one source of a batch has, unless that was done before; see `Log`."""
        self._reader(partition)
        with self._lock:
            writer = self._writers.get((query, source))
            if writer is None:
                writer = SourceWriter(self._clients, self._topic, query, source)
                self._writers[query, source] = writer
            return writer.write(partition, records, batch)

    def written(self, query: str, batch: int) -> set[int]:
        """Return the sources that have written in that batch."""
        self._check_open()
        start = group_of(self._topic.name, query, 0)[:-1]
        found = set()
        for group in self._topics.groups():
            source = group.removeprefix(start)
            if group.startswith(start) and source.isdigit():
                with closing(self._clients.consumer(group_id=group)) as consumer:
                    registers = remembered(self._clients, consumer, self._topic).values()
                found.update({int(source)} if any(one.has(batch) for one in registers) else set())
        return found

    def read(
        self,
        partition: int,
        start: int,
        stop: int | None = None,
        *,
        max_records: int = 10_000,
        max_bytes: int = 16 << 20,
    ) -> pa.RecordBatch:
        """Return records at offsets in [start, stop); see `Log`."""
        check_count(max_records)
        return self._reader(partition).read(start, stop, max_records, max_bytes)

    def _read_whole(self, partition: int, start: int, stop: int) -> pa.RecordBatch:
        """Read what is known to be there; a broker that was cut off may know less."""
        batch = self.read(partition, start, stop)
        end = self.ends()[partition] if not batch.num_rows else stop
        if end < stop:
            raise StateError(
                f"{self._clients.options.url}: partition {partition} of {self._topic.name} ends at "
                f"{end}, before offset {stop} that it had"
            )
        return batch

    def tail(
        self, partition: int, start: int, stop: int, *, max_records: int, max_bytes: int = 16 << 20
    ) -> pa.RecordBatch:
        """Return the last records at offsets in [start, stop); see `Log`."""
        check_count(max_records)
        return self._reader(partition).tail(start, stop, max_records, max_bytes)

    def since(self, time: int) -> list[int]:
        """Return the first offset kept whose record is not older than a time; see `Log`."""
        self._check_open()
        milliseconds = min(-(-time // _MILLISECOND), (1 << 62))
        found = self._topics.offsets(self._topic, OffsetSpec.for_timestamp(milliseconds))
        ends = self.ends()
        return [end if first < 0 else first for first, end in zip(found, ends, strict=True)]

    def within(self, partition: int, start: int, stop: int, max_bytes: int) -> int:
        """Return up to where there are about that many bytes, as far as a few records tell.

        Kafka knows the sizes of records by reading them only. So the first ones of a long range
        stand for all; a short one is taken as it is.
        """
        self._reader(partition)
        if stop - start <= _SHORT:
            return max(start, stop)
        sample = self._sampler(partition).read(start, stop, _SAMPLE, max_bytes)
        if not sample.num_rows:
            return stop
        size = sample.column("key").nbytes + sample.column("value").nbytes
        first: int = sample.column("offset")[0].as_py()
        fitting: int = max(1, max_bytes * sample.num_rows // size)
        return min(stop, first + fitting)

    def repeats(self, records: pa.RecordBatch) -> list[bool]:
        """Tell which records of one partition, in order, repeat a key that stands before them."""
        return [False] * records.num_rows if self._keys is None else self._keys.repeats(records)

    def starts(self) -> list[int]:
        """Return the earliest offset kept, for each partition."""
        self._check_open()
        return self._topics.offsets(self._topic, OffsetSpec.earliest())

    def ends(self) -> list[int]:
        """Return the offset behind the last one that is committed, for each partition."""
        self._check_open()
        return self._topics.offsets(self._topic, OffsetSpec.latest())

    def find(self, key: str) -> Record | None:
        """Return the earliest record kept that was appended with that key."""
        encoded(key)
        if self._keys is None:
            return self._found(key)
        self._keys.reach(self.ends())
        at = self._keys.known([key]).get(key)
        if at is None:
            return None
        row = self.read(at.partition, at.offset, at.offset + 1).to_pylist()
        return Record(**row[0]) if row else None

    def expire(
        self,
        *,
        before: int | None = None,
        max_bytes: int | None = None,
        keep: Sequence[int] | None = None,
    ) -> int:
        """Drop what is older than `before`, and return how many offsets that were; see `Log`.

        `max_bytes` is for Kafka's own retention to see to.
        """
        check_keep(keep, self.partitions)
        starts = self.starts()
        if before is None:
            return 0
        firsts = self.since(before)
        if keep is not None:
            firsts = [min(first, kept) for first, kept in zip(firsts, keep, strict=True)]
        firsts = [max(start, first) for start, first in zip(starts, firsts, strict=True)]
        if firsts != starts:
            self._topics.cut(self._topic, firsts)
        if self._keys is not None:
            self._keys.forget(firsts)
        return sum(firsts) - sum(starts)

    def close(self) -> None:
        """Let go of all connections."""
        self._closed = True
        for reader in (*self._readers, *self._samplers.values()):
            reader.close()
        for writer in self._writers.values():
            writer.close()
        self._appender.close()
        if self._keys is not None:
            self._keys.close()

    def _append_unique(
        self, table: KeyTable, records: Sequence[tuple[str, bytes]]
    ) -> list[Position]:
        table.reach(self.ends())
        known = table.known(key for key, _ in records)
        fresh: dict[str, bytes] = {}
        for key, value in records:
            if key not in known:
                fresh.setdefault(key, value)
        positions = self._appender.append(list(fresh.items())) if fresh else []
        table.add(list(fresh), positions)
        new = dict(zip(fresh, positions, strict=True))
        answers = []
        for key, _ in records:
            answers.append(known.get(key) or new[key])
            if key in new:
                at = new[key]
                known[key] = Position(at.partition, at.offset, at.time, False)
        return answers

    def _found(self, key: str) -> Record | None:
        for reader in range(self.partitions):
            start = 0
            while (batch := self.read(reader, start)).num_rows:
                for row in batch.to_pylist():
                    if row["key"] == key:
                        return Record(**row)
                start = batch.column("offset")[-1].as_py() + 1
        return None

    def _new_reader(self, partition: int, ahead: int) -> PartitionReader:
        end = partial(self._topics.end, self._topic, partition)
        name = self._topic.name
        return PartitionReader(self._clients, name, partition, self._decode, end, ahead=ahead)

    def _sampler(self, partition: int) -> PartitionReader:
        """Return a reader of a few records, which fetches little more than that."""
        with self._lock:
            if partition not in self._samplers:
                self._samplers[partition] = self._new_reader(partition, _LITTLE)
            return self._samplers[partition]

    def _reader(self, partition: int) -> PartitionReader:
        self._check_open()
        check_partition(self._topic.name, partition, self.partitions)
        return self._readers[partition]

    def _check_open(self) -> None:
        if self._closed:
            raise StateError(f"{self._topic.name}: the log is closed")
