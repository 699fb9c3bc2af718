"""Throughput and latency of streaming queries: several at once, each on a shard of the files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from geocast.bench.thesis.answers import digest_of_files
from geocast.bench.thesis.batch import BatchJob
from geocast.bench.thesis.door import Algorithm, matched
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.workloads import Files

__all__ = ["measure_stream", "run_queries"]

_SCHEMA = "id string, geometry binary"
_POOL = "spark.scheduler.pool"


@dataclass(frozen=True, slots=True)
class _MicroBatch:
    """When it began and ended, in seconds since 1970, and its publications."""

    began: float
    ended: float
    rows: int


def measure_stream(session: SparkSession, setting: Setting, files: Files, room: Path) -> Found:
    """Deal the files out to the queries; each takes one file a micro-batch, as fast as it can."""
    job = BatchJob(session, setting, files, room)
    job.warm()
    shutil.rmtree(room / "shards", ignore_errors=True)
    shards = _deal(files.parts, setting.jobs, room / "shards")
    reader = session.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
    return run_queries(job, [reader.parquet(str(shard)) for shard in shards], files, room)


def run_queries(job: BatchJob, sources: list[DataFrame], files: Files, room: Path) -> Found:
    """Match each source with a query of its own, all at once, until nothing is left.

    Latency is that of processing: the publications of a micro-batch are done when it is. The rate
    counts from the beginning of the first micro-batch to the end of the last.
    """
    shutil.rmtree(room / "stream", ignore_errors=True)
    done = _run(job.algorithm, sources, room / "stream")
    rows = sum(batch.rows for batch in done)
    seconds = max(batch.ended for batch in done) - min(batch.began for batch in done)
    latency = sum((batch.ended - batch.began) * batch.rows for batch in done) / rows
    pairs, matches = digest_of_files(room / "stream" / "out", files)
    return Found(
        rate=rows / seconds,
        seconds=seconds,
        build_seconds=job.build_seconds,
        pairs=pairs,
        matches=matches,
        latency=latency,
    )


def _deal(parts: Path, jobs: int, room: Path) -> list[Path]:
    """Link the files into a folder for each query, in turn."""
    shards = [room / f"shard-{job}" for job in range(jobs)]
    for shard in shards:
        shard.mkdir(parents=True)
    for number, part in enumerate(sorted(parts.iterdir())):
        (shards[number % jobs] / part.name).hardlink_to(part)
    return shards


def _run(algorithm: Algorithm, sources: list[DataFrame], room: Path) -> list[_MicroBatch]:
    queries = []
    for number, source in enumerate(sources):
        frame = matched(algorithm, source)
        with _pool(source.sparkSession, f"job-{number}"):
            queries.append(_start(frame, room / "out" / str(number), room / f"checkpoint-{number}"))
    for query in queries:
        query.awaitTermination()
    return [batch for query in queries for batch in map(_batch, query.recentProgress) if batch.rows]


def _start(frame: DataFrame, out: Path, checkpoint: Path) -> Any:
    """Start a query that ends when it has done all there is."""
    sink = frame.writeStream.format("parquet").option("path", str(out))
    return sink.trigger(availableNow=True).option("checkpointLocation", str(checkpoint)).start()


@contextmanager
def _pool(session: SparkSession, name: str) -> Iterator[None]:
    """Have queries that are started in the block share the cores fairly with other pools."""
    context = session.sparkContext
    context.setLocalProperty(_POOL, name)
    try:
        yield
    finally:
        context.setLocalProperty(_POOL, None)


def _batch(progress: Any) -> _MicroBatch:
    began = datetime.fromisoformat(progress["timestamp"]).timestamp()
    took = progress["durationMs"].get("triggerExecution", 0) / 1e3
    return _MicroBatch(began, began + took, int(progress["numInputRows"]))
