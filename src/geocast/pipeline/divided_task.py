"""A live batch where parts of the snapshot are divided: send, match, and write in order.

What partitions find is gathered by the partition of the log that the publications came from, and
written as in an undivided batch: in order, in one transaction that happens once. The gathering task
reads the matched records again from the log, so that they need not travel along.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from geocast.errors import StateError
from geocast.files import Chunk
from geocast.log import LogPlace
from geocast.match.partition.adapt import Load, add_load
from geocast.model import Reject
from geocast.pipeline.lower import Worker
from geocast.pipeline.parcel import PACKED, Partial, packed, unpack_partials
from geocast.pipeline.routing import Holding, open_holding, parcels
from geocast.pipeline.shares import shares
from geocast.pipeline.shipment import Shipment
from geocast.pipeline.task import OUTCOME, LiveTask, Outcome, open_log, outcome_row
from geocast.snapshot.numbers import in_sorted

__all__ = ["DividedTask"]


@dataclass(frozen=True, slots=True)
class DividedTask:
    """Matches records against a version that has divided parts; pickled, and run in workers."""

    live: LiveTask

    def run(self, frame: DataFrame, tasks: int) -> DataFrame:
        """Return the outcomes, lazily; partitions are worked on by that many tasks."""
        ends = self.live.partitions

        def upper(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return self.send(numbers, tasks)

        sent = frame.mapInArrow(upper, PACKED).repartitionById(tasks, "task")
        found = sent.mapInArrow(self.match, PACKED).repartitionById(ends, "task")
        return found.mapInArrow(self.write, OUTCOME)

    def send(self, numbers: Iterator[pa.RecordBatch], tasks: int) -> Iterator[pa.RecordBatch]:
        """Read records, and send publications where there may be something for them."""
        for records in self.live.records(numbers):
            source = int(records.column("partition")[0].as_py())
            offsets = records.column("offset").to_numpy()
            for chunk in self.live.read(records, self._properties()):
                for task, parcel in parcels(_placed(chunk, offsets), self._holdings(), tasks):
                    yield packed(task, source, parcel.pack())

    def match(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match what was sent."""
        worker = Worker(self._holdings(), self.live.found().whole)
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
        records = _read(self.live.publications, source, first, last + 1)
        offsets = records.column("offset").to_numpy()
        at = np.concatenate([np.repeat(p.row, p.length) for p in partials])
        row = np.searchsorted(offsets, at)
        vnumber = np.concatenate([partial.number for partial in partials]).astype(np.int64)
        removed = self.live.found().removed
        stands = ~in_sorted(removed, vnumber)
        row, vnumber = row[stands], vnumber[stands]
        order = np.lexsort((vnumber, row))
        refused = [reject for own in partials for reject in own.refused]
        bad = [(int(np.searchsorted(offsets, one.row)), one.reason) for one in refused]
        outcome = self.live.write(records, row[order], vnumber[order], bad)
        return replace(outcome, loads=self._loads(partials))

    def _loads(self, partials: Sequence[Partial]) -> dict[str, dict[int, Load]]:
        divided = self.live.found().divided
        loads: dict[str, dict[int, Load]] = defaultdict(dict)
        for target, load in (entry for partial in partials for entry in partial.loads):
            partition, holding = divmod(target, len(divided) + 1)
            if holding < len(divided):
                add_load(loads[divided[holding].name], partition, load)
        return dict(loads)

    def _holdings(self) -> tuple[Holding, ...]:
        divided = self.live.found().divided
        return tuple(Holding(Shipment(path.name, str(path))) for path in divided)

    def _properties(self) -> frozenset[str]:
        found = self.live.found()
        used = [open_holding(path).properties for path in found.divided]
        whole = [shares.whole(path).matcher.properties for path in found.whole]
        return frozenset[str]().union(*used, *whole)


def _placed(chunk: Chunk, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Chunk:
    """Return a chunk whose rows are offsets in the log."""
    rejects = tuple(
        Reject(reject.side, int(offsets[reject.row]), reject.id, reject.reason)
        for reject in chunk.rejects
    )
    return replace(chunk, rows=offsets[chunk.rows], rejects=rejects)


def _read(place: LogPlace, source: int, first: int, end: int) -> pa.RecordBatch:
    """Return the records [first, end) of a partition of the log."""
    log = open_log(place)
    batches: list[pa.RecordBatch] = []
    while first < end:
        batch = log.read(source, first, end)
        if not batch.num_rows or (not batches and batch.column("offset")[0].as_py() != first):
            where = place.url or place.directory
            raise StateError(f"record {first} of partition {source} is gone from {where}")
        batches.append(batch)
        first = batch.column("offset")[-1].as_py() + 1
    return pa.concat_batches(batches)
