"""RIS: every worker holds the index of all subscriptions; publications come in any order.

Nothing is shuffled and no pair can be found twice, so this is the default. It is weak only
where the index of all subscriptions does not fit the memory of a worker's machine: one
copy a machine is shared by its workers through the page cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from geocast.files import Chunk
from geocast.match.matcher import Matcher
from geocast.model import Reject, Rejects
from geocast.pipeline.base import Answered, Reader, Writer
from geocast.pipeline.shipment import Shipment, new_folder

__all__ = ["Ris"]

_OPEN_AT_ONCE: Final = 2
"""Matchers a worker keeps open: that of the running job and one before it."""


class Ris:
    """The replicated index on Spark; see `geocast.pipeline.base.Algorithm`."""

    def __init__(self, subscriptions: pa.Table, index: str) -> None:
        self._matcher = Matcher(subscriptions, index=index)

    @property
    def rejects(self) -> Rejects:
        """The subscriptions that cannot be used."""
        return self._matcher.rejects

    @property
    def properties(self) -> frozenset[str]:
        """The attributes that the filters read."""
        return self._matcher.properties

    @cached_property
    def _folder(self) -> Path:
        """Where the matcher is saved, once for all runs."""
        folder = new_folder()
        self._matcher.save(folder)
        return folder

    def run(
        self, frame: DataFrame, read: Reader, write: Writer, tasks: int | None = None
    ) -> DataFrame:
        """Match every partition of `frame` where it lies."""
        shipment = Shipment.send(self._folder, frame.sparkSession.sparkContext)

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            matcher = _open(shipment.path())
            return write(_answer(matcher, chunk) for chunk in read(batches))

        return frame.mapInArrow(work, write.schema)


@lru_cache(maxsize=_OPEN_AT_ONCE)
def _open(folder: Path) -> Matcher:
    return Matcher.open(folder)


def _answer(matcher: Matcher, chunk: Chunk) -> Answered:
    answer = matcher.answer(chunk.batch)
    refused = [
        Reject("publications", int(chunk.rows[index]), name, reason)
        for index, name, reason in answer.rejected
    ]
    rejects = sorted([*chunk.rejects, *refused], key=lambda reject: reject.row)
    return Answered(chunk.batch.num_rows + len(chunk.rejects), answer.matches, tuple(rejects))
