"""What a worker does with its part of a live batch: read, match, write to the log of matches."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from geocast.files import read_texts
from geocast.log import SqliteLog
from geocast.model import MatchRecord, split_key
from geocast.snapshot import SnapshotAnswer, SnapshotMatcher

__all__ = ["OUTCOME", "Bad", "LiveTask", "Outcome"]

OUTCOME: Final = "outcome binary"
"""The Spark schema of what a task gives back: one row, an `Outcome`, pickled."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that could not be used, and why."""

    offset: int
    key: str
    reason: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the records [start, stop) of a partition of the log."""

    partition: int
    start: int
    stop: int
    publications: int
    matched: int
    matches: int
    bad: list[Bad] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LiveTask:
    """Matches records against one version of the subscriptions; pickled, and run in workers.

    The matches of a partition go into the partition of the same number of the log of matches,
    in one transaction that happens once however often the task runs.
    """

    query: str
    batch: int
    snapshots: Path
    version: int
    matches: Path
    partitions: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Process all records of a task, and yield one row for each partition of the log."""
        for records in _by_partition([batch for batch in batches if batch.num_rows]):
            row = pa.array([pickle.dumps(self._process(records))], pa.binary())
            yield pa.RecordBatch.from_arrays([row], names=["outcome"])

    def warm(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Load what a worker needs, so that the first batch does not have to wait for it."""
        for _ in batches:
            _open_log(self.matches, self.partitions)
            _open_matcher(self.snapshots, self.version).answer(_nothing())
        yield from ()

    def _process(self, records: pa.RecordBatch) -> Outcome:
        partition = int(records.column("partition")[0].as_py())
        matcher = _open_matcher(self.snapshots, self.version)
        found: list[bytes | None] = [None] * records.num_rows
        matches, bad = 0, []
        texts = records.column("value").to_pylist()
        for chunk in read_texts(texts, columns=matcher.properties):
            bad += [(reject.row, reject.reason) for reject in chunk.rejects]
            answer = matcher.answer(chunk.batch)
            bad += [(int(chunk.rows[row]), reason) for row, _, reason in answer.rejected]
            matches += len(answer.row)
            self._encode(records, texts, chunk.rows, answer, found)
        keys = records.column("key").to_pylist()
        pairs = [(key, value) for key, value in zip(keys, found, strict=True) if value is not None]
        log = _open_log(self.matches, self.partitions)
        log.write(partition, pairs, query=self.query, batch=self.batch, source=partition)
        offsets = records.column("offset").to_pylist()
        return Outcome(
            partition,
            offsets[0],
            offsets[-1] + 1,
            len(offsets),
            len(pairs),
            matches,
            [Bad(offsets[row], keys[row], reason, texts[row]) for row, reason in sorted(bad)],
        )

    def _encode(
        self,
        records: pa.RecordBatch,
        texts: Sequence[bytes],
        rows: np.ndarray[Any, np.dtype[np.int64]],
        answer: SnapshotAnswer,
        found: list[bytes | None],
    ) -> None:
        """Put the record of every matched publication into its place."""
        if not len(answer.row):
            return
        matched, starts = np.unique(answer.row, return_index=True)
        stops = np.append(starts[1:], len(answer.row))
        versions = answer.vnumber.tolist()
        at = rows[matched]
        chosen = records.take(pa.array(at))
        columns = [chosen.column(name).to_pylist() for name in ("partition", "offset", "time")]
        keys = chosen.column("key").to_pylist()
        for row, partition, offset, time, key, start, stop in zip(
            at.tolist(), *columns, keys, starts.tolist(), stops.tolist(), strict=True
        ):
            publisher, identifier = split_key(key)
            found[row] = MatchRecord(
                partition,
                offset,
                time,
                publisher,
                identifier,
                self.batch,
                self.version,
                versions[start:stop],
                texts[row],
            ).encode()


def _nothing() -> pa.RecordBatch:
    """Return a publication in the middle of the ocean."""
    point = struct.pack("<BIdd", 1, 1, 0.0, 0.0)
    return pa.RecordBatch.from_pydict({"id": ["warm"], "geometry": pa.array([point], pa.binary())})


def _by_partition(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of each partition of the log together, in order."""
    if not batches:
        return
    whole = pa.concat_batches(batches)
    number = whole.column("partition").to_numpy()
    for partition in np.unique(number):
        yield whole.take(pa.array(np.flatnonzero(number == partition)))


@lru_cache(maxsize=2)
def _open_matcher(directory: Path, version: int) -> SnapshotMatcher:
    return SnapshotMatcher.open(directory, version)


@lru_cache(maxsize=1)
def _open_log(directory: Path, partitions: int) -> SqliteLog:
    return SqliteLog.open(directory, partitions, unique_keys=False)
