"""A live batch where parts of the snapshot are divided: send, match, and write in order.

What partitions find is gathered by the partition of the log that the publications came from, and
written as in an undivided batch: in order, in one transaction that happens once. The gathering task
reads the matched records again from the log, so that they need not travel along.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from geocast.errors import StateError
from geocast.files import Chunk, read_texts
from geocast.log import SqliteLog
from geocast.match.partition.adapt import Load, add_load
from geocast.model import Reject
from geocast.pipeline.lower import Worker
from geocast.pipeline.parcel import PACKED, Partial, packed, unpack_partials
from geocast.pipeline.routing import Holding, open_holding, parcels
from geocast.pipeline.shares import shares
from geocast.pipeline.shipment import Shipment
from geocast.pipeline.task import OUTCOME, LiveTask, Outcome, by_partition, outcome_row
from geocast.snapshot import OpenVersion
from geocast.snapshot.numbers import in_sorted

__all__ = ["DividedTask"]


@dataclass(frozen=True, slots=True)
class DividedTask:
    """Matches records against a version that has divided parts; pickled, and run in workers."""

    live: LiveTask
    publications: Path
    divided: tuple[Path, ...]
    whole: tuple[Path, ...]

    @classmethod
    def of(cls, live: LiveTask, publications: Path, version: OpenVersion) -> DividedTask:
        """Return the task for a version."""
        return cls(live, publications, version.divided, version.whole)

    def run(self, frame: DataFrame, tasks: int) -> DataFrame:
        """Return the outcomes, lazily; partitions are worked on by that many tasks."""
        ends = self.live.partitions

        def upper(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return self.send(batches, tasks)

        sent = frame.mapInArrow(upper, PACKED).repartitionById(tasks, "task")
        found = sent.mapInArrow(self.match, PACKED).repartitionById(ends, "task")
        return found.mapInArrow(self.write, OUTCOME)

    def send(self, batches: Iterator[pa.RecordBatch], tasks: int) -> Iterator[pa.RecordBatch]:
        """Read records, and send publications where there may be something for them."""
        for records in by_partition(batches):
            source = int(records.column("partition")[0].as_py())
            offsets = records.column("offset").to_numpy()
            texts = records.column("value").to_pylist()
            for chunk in read_texts(texts, columns=self._properties()):
                for task, parcel in parcels(_placed(chunk, offsets), self._holdings(), tasks):
                    yield packed(task, source, parcel.pack())

    def match(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match what was sent."""
        worker = Worker(self._holdings(), self.whole)
        for source, partial in worker.partials(batches):
            yield packed(source, source, partial.pack())

    def write(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write what was found, and tell what became of each partition of the log."""
        by_source: dict[int, list[Partial]] = defaultdict(list)
        for source, partial in unpack_partials(batches):
            by_source[source].append(partial)
        for source in sorted(by_source):
            yield outcome_row(self._written(source, by_source[source]))

    def _written(self, source: int, partials: Sequence[Partial]) -> Outcome:
        accounted = np.concatenate([partial.accounted for partial in partials])
        first, last = int(accounted.min()), int(accounted.max())
        records = _read(self.publications, self.live.partitions, source, first, last + 1)
        row = np.concatenate([np.repeat(p.row, p.length) for p in partials]) - first
        vnumber = np.concatenate([partial.number for partial in partials]).astype(np.int64)
        removed = OpenVersion.read(self.live.snapshots, self.live.version).removed
        stands = ~in_sorted(removed, vnumber)
        row, vnumber = row[stands], vnumber[stands]
        order = np.lexsort((vnumber, row))
        bad = [(reject.row - first, reject.reason) for own in partials for reject in own.refused]
        outcome = self.live.write(records, row[order], vnumber[order], bad)
        return replace(outcome, loads=self._loads(partials))

    def _loads(self, partials: Sequence[Partial]) -> dict[str, dict[int, Load]]:
        loads: dict[str, dict[int, Load]] = defaultdict(dict)
        for target, load in (entry for partial in partials for entry in partial.loads):
            partition, holding = divmod(target, len(self.divided) + 1)
            if holding < len(self.divided):
                add_load(loads[self.divided[holding].name], partition, load)
        return dict(loads)

    def _holdings(self) -> tuple[Holding, ...]:
        return tuple(Holding(Shipment(path.name, str(path))) for path in self.divided)

    def _properties(self) -> frozenset[str]:
        used = [open_holding(path).properties for path in self.divided]
        whole = [shares.whole(path).matcher.properties for path in self.whole]
        return frozenset[str]().union(*used, *whole)


def _placed(chunk: Chunk, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Chunk:
    """Return a chunk whose rows are offsets in the log."""
    rejects = tuple(
        Reject(reject.side, int(offsets[reject.row]), reject.id, reject.reason)
        for reject in chunk.rejects
    )
    return replace(chunk, rows=offsets[chunk.rows], rejects=rejects)


def _read(directory: Path, partitions: int, source: int, first: int, end: int) -> pa.RecordBatch:
    """Return the records [first, end) of a partition of the log."""
    log = _open_publications(directory, partitions)
    batches = []
    while first < end:
        batch = log.read(source, first, end)
        if not batch.num_rows or batch.column("offset")[0].as_py() != first:
            raise StateError(f"record {first} of partition {source} is gone from {directory}")
        batches.append(batch)
        first += batch.num_rows
    return pa.concat_batches(batches)


@lru_cache(maxsize=1)
def _open_publications(directory: Path, partitions: int) -> SqliteLog:
    return SqliteLog.open(directory, partitions)
