"""Where a worker's time goes: its stages one after the other, over records of the topic.

What happens at once in a running worker happens here in turn, in one process that does nothing
else. Kafka's library has threads of its own, which fetch ahead, compress and send beside the
stages: what the process took beyond the stages is theirs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from geocast.bench.kafka.system import KafkaService
from geocast.files import RecurringGeometries, read_texts
from geocast.log import Log, matches, publications
from geocast.pipeline.live import QUERY
from geocast.pipeline.task import LiveTask
from geocast.repository import Repository
from geocast.snapshot import SnapshotMatcher, SnapshotPlace

__all__ = ["Stage", "measure_stages"]

_WRITER: Final = "bench-stages"
_MICROSECONDS: Final = 1e6
_BATCH: Final = 10_000


@dataclass(frozen=True, slots=True)
class Stage:
    """Microseconds of processors for each publication."""

    name: str
    microseconds: float


def measure_stages(service: KafkaService, room: Path) -> list[Stage]:
    """Do what a worker does with the records of the first partition, stage by stage.

    Keys go into a table of their own, matches into a topic of their own.
    """
    place, settings = service.place, service.settings
    published = replace(publications(place, settings), directory=room / "publications")
    written = replace(matches(place, settings), directory=room / "stages")
    with ExitStack() as stack:
        repository = stack.enter_context(closing(Repository.open(place.repository)))
        version = repository.ledger.entries(QUERY, newest=True, limit=1)[0].snapshot
        log = stack.enter_context(closing(published.open_existing()))
        out = stack.enter_context(closing(written.open()))
        matcher = SnapshotMatcher.open(place.snapshots, version)
        task = LiveTask(_WRITER, 0, (), SnapshotPlace(place.snapshots), version, published, written)
        return _Stages(log, out, matcher, task).run()


class _Stages:
    """The stages of one worker, each with the seconds that it has taken."""

    def __init__(self, log: Log, out: Log, matcher: SnapshotMatcher, task: LiveTask) -> None:
        self._log = log
        self._out = out
        self._matcher = matcher
        self._task = task
        self._seconds: dict[str, float] = {}
        self._known = RecurringGeometries()

    def run(self) -> list[Stage]:
        """Go through all records of the first partition."""
        start, number, count = 0, 0, 0
        began = time.process_time()
        while True:
            with self._timed("reading Kafka"):
                records = self._log.read(0, start, max_records=_BATCH, max_bytes=1 << 30)
            if not records.num_rows:
                return self._told(time.process_time() - began, count)
            self._batch(records, number)
            start = records["offset"][-1].as_py() + 1
            count += records.num_rows
            number += 1

    def _batch(self, records: pa.RecordBatch, number: int) -> None:
        with self._timed("repeats"):
            self._log.repeats(records)
        texts = records.column("value").to_pylist()
        with self._timed("GeoJSON to geometry"):
            properties = self._matcher.properties
            chunks = list(read_texts(texts, columns=properties, known=self._known))
        with self._timed("validity and matching"):
            answers = [self._matcher.answer(chunk.batch) for chunk in chunks]
        paired = list(zip(chunks, answers, strict=True))
        rows = np.concatenate([chunk.rows[answer.row] for chunk, answer in paired])
        vnumbers = np.concatenate([answer.vnumber for answer in answers])
        with self._timed("records of matches"):
            pairs = self._task.encoded(records, texts, rows, vnumbers)
        with self._timed("writing Kafka"):
            self._out.write(0, pairs, query=_WRITER, batch=number, source=0)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.thread_time()
        yield
        self._seconds[name] = self._seconds.get(name, 0.0) + time.thread_time() - began

    def _told(self, total: float, count: int) -> list[Stage]:
        beyond = {"Kafka's own threads": total - sum(self._seconds.values())}
        return [
            Stage(name, seconds / max(count, 1) * _MICROSECONDS)
            for name, seconds in (self._seconds | beyond).items()
        ]
