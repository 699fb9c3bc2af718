"""The embedded log as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

from geocast.errors import StateError
from geocast.log.base import Position, Record
from geocast.log.checks import check_count, check_keep, check_partition
from geocast.log.sqlite.description import Description, load, load_or_create, partition_path
from geocast.log.sqlite.expiry import cuts
from geocast.log.sqlite.insert import Entry
from geocast.log.sqlite.keys import digest
from geocast.log.sqlite.partition import Partition
from geocast.model import now

__all__ = ["SqliteLog"]


class SqliteLog:
    """A log in a directory of a local disk: a `Log` of one SQLite file a partition.

    It promises more than others: offsets have no gaps, times increase strictly whatever the clock
    does, and the records of one call in one partition are appended together or not at all.

    Each call that writes costs one wait for the disk for every partition that it touches, so
    records are best appended many at a time. Files do not shrink when records expire; their
    room is used again. `find` reads everything where keys need not be unique, because then
    there is no index of them. Not usable on a network file system, nor across a fork: a child
    opens the log itself.
    """

    def __init__(
        self, directory: Path, description: Description, clock: Callable[[], int] = now
    ) -> None:
        self._directory = directory
        self._description = description
        self._parts = [
            Partition(number, partition_path(directory, number), description.unique_keys, clock)
            for number in range(description.partitions)
        ]

    @classmethod
    def open(
        cls,
        directory: Path,
        partitions: int = 2,
        unique_keys: bool = True,
        *,
        clock: Callable[[], int] = now,
    ) -> SqliteLog:
        """Open the log in a directory, or make it there.

        Raises StateError where there is one that was made with something else.
        """
        found = load_or_create(directory, partitions, unique_keys)
        if found.partitions != partitions:
            raise StateError(
                f"{directory}: the log has {found.partitions} partitions, not {partitions}"
            )
        if found.unique_keys != unique_keys:
            kind = "unique" if found.unique_keys else "repeated"
            raise StateError(f"{directory}: the log was made for {kind} keys")
        return cls(directory, found, clock)

    @classmethod
    def open_existing(cls, directory: Path) -> SqliteLog:
        """Open the log in a directory as it is; raises StateError where there is none."""
        found = load(directory)
        if found is None:
            raise StateError(f"{directory}: there is no log here")
        return cls(directory, found)

    @property
    def name(self) -> str:
        """An id that the log was given when it was made."""
        return self._description.name

    @property
    def partitions(self) -> int:
        """How many partitions there are."""
        return self._description.partitions

    @property
    def shared(self) -> bool:
        """Whether others may write to it: nobody does."""
        return False

    def append(self, records: Sequence[tuple[str, bytes]]) -> list[Position]:
        """Append pairs of key and value; see `Log`."""
        rows: list[list[int]] = [[] for _ in self._parts]
        entries = _entries(records)
        for row, entry in enumerate(entries):
            rows[entry[0] % self.partitions].append(row)
        positions: dict[int, Position] = {}
        for part, own in zip(self._parts, rows, strict=True):
            if own:
                found = part.append([entries[row] for row in own])
                positions.update(zip(own, found, strict=True))
        return [positions[row] for row in range(len(entries))]

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
        target = self._part(partition)
        if source in self.written(query, batch):
            return False
        return target.write(_entries(records), query, batch, source)

    def written(self, query: str, batch: int) -> set[int]:
        """Return the sources that have written in that batch."""
        return set().union(*(part.written(query, batch) for part in self._parts))

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
        return self._part(partition).read(start, stop, max_records, max_bytes)

    def tail(
        self, partition: int, start: int, stop: int, *, max_records: int, max_bytes: int = 16 << 20
    ) -> pa.RecordBatch:
        """Return the last records at offsets in [start, stop); see `Log`."""
        check_count(max_records)
        return self._part(partition).tail(start, stop, max_records, max_bytes)

    def since(self, time: int) -> list[int]:
        """Return the first offset kept whose record is not older than a time; see `Log`."""
        return [self._since(part, time) for part in self._parts]

    def within(self, partition: int, start: int, stop: int, max_bytes: int) -> int:
        """Return up to where from `start` on there are at most that many bytes.

        At most `stop`, and at least one record behind `start` if there is one.
        """
        with self._part(partition).view() as view:
            first = max(start, view.state.start)
            return view.within(first, min(stop, view.state.stop), max_bytes)

    def repeats(self, records: pa.RecordBatch) -> list[bool]:
        """Tell which records repeat an earlier one: none does, here."""
        return [False] * records.num_rows

    def starts(self) -> list[int]:
        """Return the earliest offset kept, for each partition."""
        return [self._bounds(part)[0] for part in self._parts]

    def ends(self) -> list[int]:
        """Return the offset that the next record will get, for each partition."""
        return [self._bounds(part)[1] for part in self._parts]

    def find(self, key: str) -> Record | None:
        """Return the earliest record kept that was appended with that key."""
        number = digest(key)
        return self._parts[number % self.partitions].find(number, key)

    def expire(
        self,
        *,
        before: int | None = None,
        max_bytes: int | None = None,
        keep: Sequence[int] | None = None,
    ) -> int:
        """Drop the oldest records and return how many; see `Log`."""
        check_keep(keep, self.partitions)
        with ExitStack() as stack:
            views = [stack.enter_context(part.view()) for part in self._parts]
            first = cuts(views, before, max_bytes, keep)
        return sum(
            part.drop_before(offset) for part, offset in zip(self._parts, first, strict=True)
        )

    def close(self) -> None:
        """Close all files."""
        for part in self._parts:
            part.close()

    def _part(self, partition: int) -> Partition:
        check_partition(self._directory, partition, self.partitions)
        return self._parts[partition]

    @staticmethod
    def _since(part: Partition, time: int) -> int:
        with part.view() as view:
            return view.first_since(time, view.state.stop)

    @staticmethod
    def _bounds(part: Partition) -> tuple[int, int]:
        with part.view() as view:
            return view.state.start, view.state.stop


def _entries(records: Sequence[tuple[str, bytes]]) -> list[Entry]:
    return [(digest(key), key, value) for key, value in records]
