"""What every log offers: records in partitions, each at an offset that is its own for ever.

A log is written by several processes at once and read from any offset that it still keeps. Two
ways lead in. `append` is for those who may try again: a key that is there already is not
appended a second time. `write` is for a streaming job: all records of one source in one batch,
or none, however often the batch is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

__all__ = ["RECORDS", "Log", "Position", "Record"]

RECORDS = pa.schema(
    [
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("time", pa.int64(), nullable=False),
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.binary(), nullable=False),
    ]
)
"""A row a record, in the order of their offsets."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands; `new` is False where its key was there before this call."""

    partition: int
    offset: int
    time: int
    new: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One record; `time` is when it was appended, in microseconds."""

    partition: int
    offset: int
    time: int
    key: str
    value: bytes


class Log(Protocol):
    """A partitioned log.

    In a partition, offsets start at 0, increase, and are never given twice, not even after all
    records have expired; there may be gaps, where nothing stands. Times do not decrease unless a
    clock is set back. Several threads and processes may use one log. What a call wrote is durable
    when it returns. Every method raises StateError where the stored data cannot be used, or the
    log was closed, and InputError for arguments that make no sense. A log may promise more.
    """

    @property
    def name(self) -> str:
        """An id that the log was given when it was made."""
        ...

    @property
    def partitions(self) -> int:
        """How many partitions there are."""
        ...

    @property
    def shared(self) -> bool:
        """Whether others may write to it past `append`, so that a value may be anything."""
        ...

    def append(self, records: Sequence[tuple[str, bytes]]) -> list[Position]:
        """Append pairs of key and value, and return where each of them stands.

        The key decides the partition. In a log of unique keys, a record whose key its partition
        holds is not appended; its position is that of the earlier one. The records of one
        partition are appended in their order. Where the process dies meanwhile, or the call
        raises, there may be none of them, all, or the first ones: whoever does not know appends
        them again.
        """
        ...

    def write(
        self,
        partition: int,
        records: Sequence[tuple[str, bytes]],
        *,
        query: str,
        batch: int,
        source: int,
    ) -> bool:
        """Write what one source of a batch has, unless that was done before; tell if it was now.

        All records come into the log or none, in their order; keys need not be unique. A source
        that tries again names the same partition again. Readers see what was written all at once,
        a moment after the call at the latest. What was written is remembered for the
        last 1,000 batches of a query; StateError is raised for an older one.
        """
        ...

    def written(self, query: str, batch: int) -> set[int]:
        """Return the sources that have written in that batch."""
        ...

    def read(
        self,
        partition: int,
        start: int,
        stop: int | None = None,
        *,
        max_records: int = 10_000,
        max_bytes: int = 16 << 20,
    ) -> pa.RecordBatch:
        """Return records at offsets in [start, stop), as RECORDS.

        At most `max_records` of them, and of at most `max_bytes` in keys and values, but at
        least one if there is one. Where the records at `start` have expired, the answer begins
        with the earliest that is kept. The same offsets give the same records every time.
        """
        ...

    def tail(
        self, partition: int, start: int, stop: int, *, max_records: int, max_bytes: int = 16 << 20
    ) -> pa.RecordBatch:
        """Return the last records at offsets in [start, stop), as RECORDS and in their order.

        The bounds are those of `read`, counted from the end.
        """
        ...

    def since(self, time: int) -> list[int]:
        """Return the first offset kept whose record is not older than a time, by partition.

        Where there is none, it is the offset that the next record will get. Found without
        reading the records in between.
        """
        ...

    def within(self, partition: int, start: int, stop: int, max_bytes: int) -> int:
        """Return up to where from `start` on there are about that many bytes.

        At most `stop`, and behind the first record if there is one. A log that cannot tell
        returns `stop`.
        """
        ...

    def repeats(self, records: pa.RecordBatch) -> list[bool]:
        """Tell which records of one partition, in order, repeat one that stands before them.

        In a log of unique keys, what has the key of an earlier record that was kept when the
        later one came is the same again: written past `append`, or by two in the same moment.
        The answer is the same every time.
        """
        ...

    def starts(self) -> list[int]:
        """Return the earliest offset kept, for each partition."""
        ...

    def ends(self) -> list[int]:
        """Return an offset behind all records, for each partition, that none of them reaches."""
        ...

    def find(self, key: str) -> Record | None:
        """Return the earliest record kept that was appended with that key."""
        ...

    def expire(
        self,
        *,
        before: int | None = None,
        max_bytes: int | None = None,
        keep: Sequence[int] | None = None,
    ) -> int:
        """Drop the oldest records and return about how many.

        Dropped is what is older than `before`, in microseconds, and what has to go, oldest
        first over all partitions, so that all keys and values have at most `max_bytes`, where
        the log itself bounds its size. Records at offsets from `keep[partition]` on stay in any
        case.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections; calling it again does nothing."""
        ...
