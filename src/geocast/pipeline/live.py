"""The live stream: batches from the log of publications, matches into the log of matches.

A batch is pinned to a version of the subscriptions before it is matched, and its matches are
written once: so whatever is killed, and whenever, a batch that runs again finds the same matches
and adds nothing.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from geocast.errors import StateError
from geocast.log import Log
from geocast.model import split_key
from geocast.operate import Place, Settings, metrics
from geocast.pipeline.balance import Balance
from geocast.pipeline.checkpoint import committed, make_durable, planned
from geocast.pipeline.divided_task import DividedTask
from geocast.pipeline.keeper import SnapshotKeeper
from geocast.pipeline.reach import Reach
from geocast.pipeline.source import log_stream
from geocast.pipeline.task import OUTCOME, LiveTask, Outcome
from geocast.repository import DeadLetter, Repository
from geocast.snapshot import OpenVersion

__all__ = ["QUERY", "LiveStream"]

QUERY: Final = "match"
"""The name of the stream in ledger and log."""

_log = logging.getLogger(__name__)
_POLL_SECONDS: Final = 0.05
_NO_BATCH: Final = -1
_RUNNING: Final = frozenset({"Waiting for data to arrive", "Waiting for next trigger"})


class LiveStream:
    """The running stream. `start` once; `drain` and `stop` end it."""

    def __init__(
        self,
        spark: SparkSession,
        place: Place,
        settings: Settings,
        repository: Repository,
        publications: Log,
        keeper: SnapshotKeeper,
        reach: Reach,
    ) -> None:
        self._spark = spark
        self._place = place
        self._settings = settings
        self._repository = repository
        self._publications = publications
        self._keeper = keeper
        self._reach = reach
        self._turn = threading.Lock()
        self._batches = 0
        self._balance = Balance()
        self._stopping = False
        self._query: StreamingQuery | None = None

    def start(self) -> None:
        """Start the stream where it stopped last."""
        with ThreadPoolExecutor(1) as pool:
            warm = pool.submit(self._warm_up)
            frame = log_stream(
                self._spark,
                self._reach.publications,
                max_records=self._settings.batch_records,
                max_bytes=self._settings.batch_bytes,
            )
            warm.result()
        self._query = (
            frame.writeStream.queryName(QUERY)
            .option("checkpointLocation", str(self._place.checkpoint))
            .foreachBatch(self._batch)
            .start()
        )

    def wait_running(self, stop: threading.Event) -> None:
        """Wait until the stream has had its first look at the log, or `stop` is set."""
        assert self._query is not None, "not started"
        while self._query.status["message"] not in _RUNNING and not self._batches:
            self.check()
            if stop.wait(_POLL_SECONDS):
                return

    def check(self) -> None:
        """Raise what the stream died of, if it did."""
        assert self._query is not None, "not started"
        if not self._query.isActive:
            error = self._query.exception()
            raise error if error is not None else RuntimeError("the stream has ended by itself")

    def _warm_up(self) -> None:
        """Have workers open the snapshot once, so that the first batch does not wait for it."""
        with self._keeper.held() as version:
            cores = self._spark.sparkContext.defaultParallelism
            task = self._task(_NO_BATCH, version)
            numbers = self._spark.range(0, cores, 1, cores)
            if not OpenVersion.read(self._place.snapshots, version).divided:
                numbers.mapInArrow(task.warm, OUTCOME).collect()

    def drain(self, seconds: float) -> bool:
        """Wait until all that was published is matched; tells whether that was in time."""
        deadline = time.monotonic() + seconds
        ends = self._publications.ends()
        while any(done < end for done, end in zip(self._committed(), ends, strict=True)):
            if time.monotonic() > deadline:
                return False
            self.check()
            time.sleep(_POLL_SECONDS)
        return True

    def stop(self) -> None:
        """End the stream between two batches."""
        if self._query is not None:
            # Not within the turn: Spark waits for the batch that waits for its turn.
            with self._turn:
                self._stopping = True
            self._query.stop()

    def _committed(self) -> list[int]:
        return committed(self._place.checkpoint, self._publications.partitions)

    def _writer(self) -> str:
        """Return the stream's name in the log: topics may outlive the installation they were of."""
        return f"{QUERY}-{self._repository.deployment}" if self._settings.log else QUERY

    def _task(
        self, batch: int, version: int, ranges: Sequence[tuple[int, int, int]] = ()
    ) -> LiveTask:
        return LiveTask(
            self._writer(),
            batch,
            tuple(ranges),
            self._reach.snapshots,
            version,
            self._reach.publications,
            self._reach.matches,
        )

    def _batch(self, _: DataFrame, batch: int) -> None:
        with self._turn:
            if self._stopping:
                raise StateError(f"batch {batch} comes too late: the stream is being stopped")
            began = time.monotonic()
            make_durable(self._place.checkpoint, batch)
            version = self._keeper.pin(batch)
            rows = self._matched(batch, version).collect()
            outcomes = [pickle.loads(row["outcome"]) for row in rows]
            self._finish(batch, outcomes)
            self._batches += 1
            divided = OpenVersion.read(self._place.snapshots, version).divided
            for part, loads in self._balance.watched(outcomes, [path.name for path in divided]):
                self._keeper.adapt(part, loads)
            seconds = time.monotonic() - began
            metrics().batch_seconds.observe(seconds)
            _log.info(
                "batch",
                extra={
                    "batch": batch,
                    "snapshot": version,
                    "publications": sum(outcome.publications for outcome in outcomes),
                    "matches": sum(outcome.matches for outcome in outcomes),
                    "seconds": round(seconds, 3),
                },
            )

    def _matched(self, batch: int, version: int) -> DataFrame:
        """Return the outcomes of a batch, lazily; how it is matched is told by the version.

        What the batch has is read by the tasks themselves. Spark's own way to it would have a
        second worker for each, which reads, and tasks would change workers all the time.
        """
        starts = self._publications.starts() if not batch else ()
        ranges = planned(self._place.checkpoint, batch, starts, self._publications.name)
        task = self._task(batch, version, ranges)
        frame = self._spark.range(0, len(ranges), 1, max(1, len(ranges)))
        if not OpenVersion.read(self._place.snapshots, version).divided:
            return frame.mapInArrow(task, OUTCOME)
        return DividedTask(task).run(frame, self._spark.sparkContext.defaultParallelism)

    def _finish(self, batch: int, outcomes: list[Outcome]) -> None:
        letters = _letters(outcomes)
        if letters:
            self._repository.dead_letters.add(letters)
            metrics().rejects.labels(where="pipeline").inc(len(letters))
        counts = {
            "publications": sum(outcome.publications for outcome in outcomes),
            "matched": sum(outcome.matched for outcome in outcomes),
            "matches": sum(outcome.matches for outcome in outcomes),
            "rejected": len(letters),
        }
        ranges = {outcome.partition: (outcome.start, outcome.stop) for outcome in outcomes}
        if not self._batches:
            self._check_replayed(batch, ranges)
        self._repository.ledger.finish(QUERY, batch, ranges, counts)
        metrics().matched_publications.inc(counts["publications"])
        metrics().matches.inc(counts["matches"])

    def _check_replayed(self, batch: int, ranges: dict[int, tuple[int, int]]) -> None:
        """Raise StateError where a batch that was finished before had other records then."""
        for entry in self._repository.ledger.entries(QUERY, after=batch - 1, limit=1):
            before = entry.ranges
            if entry.batch == batch and entry.finished_at is not None and before != ranges:
                raise StateError(
                    f"batch {batch} was finished with the records {before} and now has {ranges}: "
                    f"{self._place.checkpoint} is not the one that belongs to the ledger"
                )


def _letters(outcomes: Iterable[Outcome]) -> list[DeadLetter]:
    letters = []
    for outcome in outcomes:
        for bad in outcome.bad:
            publisher, identifier = split_key(bad.key)
            letters.append(
                DeadLetter(
                    "pipeline",
                    publisher,
                    identifier,
                    bad.reason,
                    bad.value,
                    outcome.partition,
                    bad.offset,
                )
            )
    return letters
