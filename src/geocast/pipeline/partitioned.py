"""The algorithms that divide the subscriptions: sPS, sPIS, RIsPS and RIhPS.

Every worker maps only the partitions that it works on, so the subscriptions may be larger than the
memory of a machine. A publication travels to the partitions that may hold a match; what they find
is gathered by publication. Subscriptions do not travel: they are divided once, and stay.

**Uniqueness.** With sPS and sPIS a subscription lies in every partition that its box meets, and a
pair could be found several times; only the partition that owns the lower left corner of what the
two boxes share reports it (`geocast.match.partition.base` has the proof). With RIsPS and RIhPS a
subscription lies in one partition. So nothing is ever found twice, and matches may be written as
they are found. Only where all that a publication matched belongs into one row, rows are gathered
by another shuffle, of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from geocast.match.divided import divide
from geocast.match.subscriptions import read_subscriptions
from geocast.model import Rejects
from geocast.pipeline.base import TASKS_A_CORE, Reader, Writer
from geocast.pipeline.lower import Gatherer, Worker
from geocast.pipeline.parcel import PACKED, packed, unpack_partials
from geocast.pipeline.routing import Holding, parcels
from geocast.pipeline.shipment import Shipment, new_folder
from geocast.pipeline.variants import Variant

__all__ = ["Partitioned"]


class Partitioned:
    """Divided subscriptions on Spark; see `geocast.pipeline.base.Algorithm`."""

    def __init__(
        self, subscriptions: pa.Table, variant: Variant, cells: int, *, merge: bool
    ) -> None:
        read = read_subscriptions(subscriptions)
        self.rejects: Rejects = read.rejects
        self.folder = new_folder()
        self._merge = merge
        divider = variant.divider(cells)
        assert divider is not None, "variants of RIS do not divide"
        self._division = divider.division(read.boxes())
        numbers = np.arange(len(read.ids), dtype=np.int32)
        self.properties = divide(read, numbers, self._division, self.folder)
        _save_ids(read.ids, self.folder / "ids.arrow")

    def run(
        self, frame: DataFrame, read: Reader, write: Writer, tasks: int | None = None
    ) -> DataFrame:
        """Send publications to their partitions, match there, and gather what was found."""
        context = frame.sparkSession.sparkContext
        holdings, worker, gatherer = self.steps(
            Shipment.send(self.folder, context), once=not frame.isStreaming
        )
        usual = TASKS_A_CORE * context.defaultParallelism
        at_work = min(self._division.count, usual)
        at_end = tasks or usual

        def upper(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            source = _task()
            for chunk in read(batches):
                for task, parcel in parcels(chunk, holdings, at_work):
                    yield packed(task, source, parcel.pack())

        def lower(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for source, partial in worker.partials(batches):
                yield packed(source % at_end, source, partial.pack())

        def gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return write(gatherer.whole(unpack_partials(batches)))

        def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            found = (gatherer.answers([partial]) for _, partial in worker.partials(batches))
            return write(chain.from_iterable(found))

        sent = frame.mapInArrow(upper, PACKED).repartitionById(at_work, "task")
        if not (write.whole or self._merge):
            return sent.mapInArrow(each, write.schema)
        found = sent.mapInArrow(lower, PACKED).repartitionById(at_end, "task")
        return found.mapInArrow(gather, write.schema)

    def steps(
        self, shipment: Shipment, *, once: bool = False
    ) -> tuple[tuple[Holding, ...], Worker, Gatherer]:
        """Return where publications are sent, what matches them, and what joins the findings.

        `shipment` is how workers find `folder`; see `Worker` for `once`.
        """
        holdings = (Holding(shipment),)
        worker = Worker(holdings, merge=self._merge, once=once)
        return holdings, worker, Gatherer(shipment, self._merge)


def _task() -> int:
    task = TaskContext.get()
    assert task is not None, "only Spark tasks ask"
    return int(task.partitionId())


def _save_ids(ids: pa.StringArray, path: Path) -> None:
    table = pa.table({"id": ids})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
