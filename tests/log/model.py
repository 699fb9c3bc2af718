"""A log as plain lists: what the real ones are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geocast.log import Position, Record

__all__ = ["ListLog"]


def size(record: Record) -> int:
    return len(record.key.encode()) + len(record.value)


class ListLog:
    """All records that there ever were, the earliest one kept, and who has written."""

    def __init__(self, partitions: int) -> None:
        self.records: list[list[Record]] = [[] for _ in range(partitions)]
        self.starts = [0] * partitions
        self.writers: set[tuple[str, int, int]] = set()
        self.clock = 1

    def kept(self, partition: int) -> list[Record]:
        return self.records[partition][self.starts[partition] :]

    def append(
        self, records: Sequence[tuple[str, bytes]], partition_of: Callable[[str], int]
    ) -> list[Position]:
        clocks = self._clocks()
        return [self._append(partition_of(key), key, value, clocks) for key, value in records]

    def write(
        self, partition: int, records: Sequence[tuple[str, bytes]], writer: tuple[str, int, int]
    ) -> bool:
        if writer in self.writers:
            return False
        self.writers.add(writer)
        clocks = self._clocks()
        for key, value in records:
            self._add(partition, key, value, clocks)
        return True

    def read(
        self, partition: int, start: int, stop: int | None, max_records: int, max_bytes: int
    ) -> list[Record]:
        found: list[Record] = []
        for record in self.kept(partition):
            if record.offset < start or (stop is not None and record.offset >= stop):
                continue
            total = sum(map(size, found)) + size(record)
            if len(found) == max_records or (found and total > max_bytes):
                break
            found.append(record)
        return found

    def tail(
        self, partition: int, start: int, stop: int, max_records: int, max_bytes: int
    ) -> list[Record]:
        found: list[Record] = []
        for record in reversed(self.kept(partition)):
            if record.offset < start or record.offset >= stop:
                continue
            total = sum(map(size, found)) + size(record)
            if len(found) == max_records or (found and total > max_bytes):
                break
            found.insert(0, record)
        return found

    def since(self, time: int) -> list[int]:
        return [
            next((r.offset for r in self.kept(number) if r.time >= time), len(records))
            for number, records in enumerate(self.records)
        ]

    def expire(self, before: int | None, max_bytes: int | None, keep: Sequence[int] | None) -> int:
        dropped = 0
        while (oldest := self._oldest(keep)) is not None:
            old = before is not None and oldest.time < before
            if not old and (max_bytes is None or self._bytes() <= max_bytes):
                break
            dropped += self._drop_at(oldest.time, keep)
        return dropped

    def _clocks(self) -> list[int]:
        """What the clock says at the first record of each partition in this call."""
        return [
            max(self.clock, records[-1].time + 1) if records else self.clock
            for records in self.records
        ]

    def _append(self, partition: int, key: str, value: bytes, clocks: list[int]) -> Position:
        for record in self.kept(partition):
            if record.key == key:
                return Position(partition, record.offset, record.time, False)
        added = self._add(partition, key, value, clocks)
        return Position(partition, added.offset, added.time, True)

    def _add(self, partition: int, key: str, value: bytes, clocks: list[int]) -> Record:
        offset = len(self.records[partition])
        record = Record(partition, offset, clocks[partition], key, value)
        clocks[partition] += 1
        self.records[partition].append(record)
        return record

    def _oldest(self, keep: Sequence[int] | None) -> Record | None:
        firsts = [self.kept(p)[0] for p in range(len(self.records)) if self._may_go(p, keep)]
        return min(firsts, key=lambda record: record.time, default=None)

    def _may_go(self, partition: int, keep: Sequence[int] | None) -> bool:
        stop = len(self.records[partition])
        return self.starts[partition] < (stop if keep is None else min(stop, keep[partition]))

    def _drop_at(self, time: int, keep: Sequence[int] | None) -> int:
        """Drop the records of that time: one in each partition at most."""
        going = [
            p
            for p in range(len(self.records))
            if self._may_go(p, keep) and self.kept(p)[0].time == time
        ]
        for partition in going:
            self.starts[partition] += 1
        return len(going)

    def _bytes(self) -> int:
        return sum(size(record) for p in range(len(self.records)) for record in self.kept(p))
