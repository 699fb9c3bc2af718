"""What a worker does with its part of a live batch: read, match, write to the log of matches."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.files import Chunk, RecurringGeometries, read_texts
from geocast.log import Log, LogPlace
from geocast.match.partition.adapt import Load
from geocast.model import MatchRecord, split_key
from geocast.pipeline.records import read_once
from geocast.pipeline.source import read_range
from geocast.snapshot import OpenVersion, SnapshotMatcher, SnapshotPlace

__all__ = [
    "OUTCOME",
    "Bad",
    "LiveTask",
    "Outcome",
    "Rows",
    "open_log",
    "outcome_row",
]

OUTCOME: Final = "outcome binary"
"""The Spark schema of what a task gives back: one row, an `Outcome`, pickled."""


Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that could not be used, and why."""

    offset: int
    key: str
    reason: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the records [start, stop) of a partition of the log.

    `loads` are what the partitions of divided parts, by the name of the part, had to do.
    """

    partition: int
    start: int
    stop: int
    publications: int
    matched: int
    matches: int
    bad: list[Bad] = field(default_factory=list)
    loads: dict[str, dict[int, Load]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveTask:
    """Matches records against one version of the subscriptions; pickled, and run in workers.

    The matches of a partition go into the partition of the same number of the log of matches,
    in one transaction that happens once however often the task runs. `ranges` are what there is
    to do: partition, and offsets [start, stop); a row of Spark's names one of them.
    """

    query: str
    batch: int
    ranges: tuple[tuple[int, int, int], ...]
    snapshots: SnapshotPlace
    version: int
    publications: LogPlace
    matches: LogPlace

    @property
    def partitions(self) -> int:
        """How many partitions both logs have."""
        return self.publications.partitions

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Process all records of a task, and yield one row for each partition of the log."""
        for records in self.records(numbers):
            yield outcome_row(self._process(records))

    def records(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the records in some of the ranges, those of a partition together."""
        log, where = open_log(self.publications), self.publications
        for number in chain.from_iterable(rows.column(0).to_pylist() for rows in numbers):
            partition, start, stop = self.ranges[number]
            name = where.url or str(where.directory)
            found = list(read_range(log, name, partition, start, stop))
            if found:
                yield pa.concat_batches(found)

    def found(self) -> OpenVersion:
        """Return the version of the subscriptions, as this machine has it."""
        return _find_version(self.snapshots.here(self.version), self.version)

    def warm(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Load what a worker needs, so that the first batch does not have to wait for it."""
        for _ in batches:
            open_log(self.matches)
            open_log(self.publications)
            _open_matcher(self.snapshots.here(self.version), self.version).answer(_nothing())
        yield from ()

    def read(self, records: pa.RecordBatch, columns: Collection[str] | None) -> Iterator[Chunk]:
        """Yield the publications among records of a partition; rows are those of `records`."""
        if self.publications.kafka:
            return read_once(open_log(self.publications), records, columns, _known())
        texts = records.column("value").to_pylist()
        return read_texts(texts, columns=columns, known=_known())

    def _process(self, records: pa.RecordBatch) -> Outcome:
        matcher = _open_matcher(self.snapshots.here(self.version), self.version)
        bad: list[tuple[int, str]] = []
        rows, vnumbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for chunk in self.read(records, matcher.properties):
            bad += [(reject.row, reject.reason) for reject in chunk.rejects]
            answer = matcher.answer(chunk.batch)
            bad += [(int(chunk.rows[row]), reason) for row, _, reason in answer.rejected]
            rows.append(chunk.rows[answer.row])
            vnumbers.append(answer.vnumber)
        return self.write(records, np.concatenate(rows), np.concatenate(vnumbers), bad)

    def write(
        self, records: pa.RecordBatch, row: Rows, vnumber: Rows, bad: Sequence[tuple[int, str]]
    ) -> Outcome:
        """Write the matches of all records of a partition of the log in a batch.

        Record row[k] matches the subscription version vnumber[k], sorted by both. `bad` has rows
        that cannot be used and why.
        """
        partition = int(records.column("partition")[0].as_py())
        texts, keys = (records.column(name).to_pylist() for name in ("value", "key"))
        pairs = self.encoded(records, texts, row, vnumber)
        log = open_log(self.matches)
        log.write(partition, pairs, query=self.query, batch=self.batch, source=partition)
        offsets = records.column("offset").to_pylist()
        return Outcome(
            partition,
            offsets[0],
            offsets[-1] + 1,
            len(offsets),
            len(pairs),
            len(row),
            [Bad(offsets[at], keys[at], reason, texts[at]) for at, reason in sorted(bad)],
        )

    def encoded(
        self, records: pa.RecordBatch, texts: Sequence[bytes], row: Rows, vnumber: Rows
    ) -> list[tuple[str, bytes]]:
        """Return key and record of every matched publication, in order."""
        if not len(row):
            return []
        matched, starts = np.unique(row, return_index=True)
        stops = np.append(starts[1:], len(row))
        versions = vnumber.tolist()
        chosen = records.take(pa.array(matched))
        names = ("partition", "offset", "time", "key")
        columns = [chosen.column(name).to_pylist() for name in names]
        pairs = []
        for at, partition, offset, time, key, start, stop in zip(
            matched.tolist(), *columns, starts.tolist(), stops.tolist(), strict=True
        ):
            publisher, identifier = split_key(key)
            match = MatchRecord(
                partition,
                offset,
                time,
                publisher,
                identifier,
                self.batch,
                self.version,
                versions[start:stop],
                texts[at],
            )
            pairs.append((key, match.encode()))
        return pairs


def outcome_row(outcome: Outcome) -> pa.RecordBatch:
    """Return an outcome as Spark takes it."""
    row = pa.array([pickle.dumps(outcome)], pa.binary())
    return pa.RecordBatch.from_arrays([row], names=["outcome"])


def _nothing() -> pa.RecordBatch:
    """Return a publication in the middle of the ocean."""
    point = struct.pack("<BIdd", 1, 1, 0.0, 0.0)
    return pa.RecordBatch.from_pydict({"id": ["warm"], "geometry": pa.array([point], pa.binary())})


@lru_cache(maxsize=2)
def _open_matcher(directory: Path, version: int) -> SnapshotMatcher:
    return SnapshotMatcher.open(directory, version)


@lru_cache(maxsize=2)
def _find_version(directory: Path, version: int) -> OpenVersion:
    return OpenVersion.read(directory, version)


@lru_cache(maxsize=1)
def _known() -> RecurringGeometries:
    """Return what this worker knows of geometries."""
    return RecurringGeometries()


@lru_cache(maxsize=2)
def open_log(place: LogPlace) -> Log:
    """Return a log that stays open in this worker."""
    return place.open()
