"""Matching a file of publications: one Spark job, from splits to pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from geocast.errors import GeocastError, InputError
from geocast.pipeline.base import Algorithm
from geocast.pipeline.pieces import Piece, PieceWriter
from geocast.pipeline.splits import Split, SplitReader, split_frame

__all__ = ["Progress", "run_job"]

_POLL_SECONDS = 0.2
_UNUSABLE = "geocast.errors.InputError: "


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; publications count when their task has finished."""

    tasks_done: int
    publications: int


def run_job(
    spark: SparkSession,
    algorithm: Algorithm,
    splits: Sequence[Split],
    folder: Path,
    watch: Callable[[Progress], None],
) -> list[Piece]:
    """Match all splits and return a piece for each, in the order of the splits.

    `folder` takes the pieces; all workers must see it under that path. `watch` is called a few
    times a second. An interruption (Ctrl-C) cancels the Spark job and is raised again.
    Raises InputError where a worker could not read its split to the end, and GeocastError
    where Spark gave up.
    """
    context = spark.sparkContext
    publications = context.accumulator(0)
    writer = PieceWriter(str(folder), publications)
    # This thread waits and does not talk to Java itself: an interruption that arrives in the
    # middle of such a talk would break the connection that cancelling needs.
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(_run, spark, algorithm, splits, writer)
        try:
            while not _finished(running):
                tasks_done = pool.submit(_tasks_done, context).result()
                watch(Progress(tasks_done, publications.value))
        except BaseException:
            while not _finished(running):
                context.cancelAllJobs()
            raise
    watch(Progress(len(splits), publications.value))
    return _checked(running.result())


def _run(
    spark: SparkSession, algorithm: Algorithm, splits: Sequence[Split], writer: PieceWriter
) -> list[Piece]:
    try:
        numbers = split_frame(spark, splits)
        rows = algorithm.run(numbers, SplitReader(splits), writer, len(splits)).collect()
    except (PySparkException, Py4JError) as error:
        gist = _gist(str(error))
        _, mark, reason = gist.partition(_UNUSABLE)
        if mark:
            raise InputError(reason) from error
        raise GeocastError(f"Spark gave up: {gist}") from error
    return sorted((Piece(**row.asDict()) for row in rows), key=lambda piece: piece.path)


def _gist(message: str) -> str:
    """Return the line that tells most: the last of a Python traceback, or else the first."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no reason given"]
    raised = [line for line in lines if re.match(r"[A-Za-z_][\w.]*: ", line)]
    return raised[-1] if raised else lines[0]


def _finished(running: Future[list[Piece]]) -> bool:
    """Wait a moment; then tell whether the job is over, one way or the other."""
    try:
        running.exception(timeout=_POLL_SECONDS)
    except NotYet:
        return False
    return True


def _tasks_done(context: SparkContext) -> int:
    tracker = context.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def _checked(pieces: list[Piece]) -> list[Piece]:
    for piece in pieces:
        if piece.failure is not None:
            raise InputError(piece.failure)
    return pieces
