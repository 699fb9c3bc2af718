"""Answers as files: each task writes its own piece, the driver joins them in input order.

A task names its piece after its partition and its attempt, and tells Spark the name only when
the piece is whole. So a task that fails, or that Spark runs twice, leaves a file that nobody
reads, and the matches of a large input never pass through the driver's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, TaskContext

from geocast.errors import InputError
from geocast.model import MATCHES, REJECTS, Reject, Rejects
from geocast.pipeline.base import Answered

__all__ = ["Piece", "PieceWriter"]

_COMPRESSION = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True)
class Piece:
    """What one task has written, and how much of everything is in it.

    `failure` says why the task's input could not be read to its end, or is None.
    """

    path: str
    publications: int = 0
    matched: int = 0
    pairs: int = 0
    rejected: int = 0
    failure: str | None = None

    def matches(self) -> Iterator[pa.Table]:
        """Yield the matches, table by table."""
        with pa.ipc.open_stream(_matches_path(self.path)) as stream:
            for batch in stream:
                yield pa.Table.from_batches([batch])

    def rejects(self) -> Iterator[Reject]:
        """Yield the rejects in the order of their rows."""
        with pa.ipc.open_stream(_rejects_path(self.path)) as stream:
            for batch in stream:
                yield from (Reject(**record) for record in batch.to_pylist())


@dataclass(frozen=True, slots=True)
class PieceWriter:
    """Writes the answers of a task into `folder` and gives Spark one row: the Piece."""

    folder: str
    progress: Accumulator[int]
    schema: str = (
        "path string, publications long, matched long, pairs long, rejected long, failure string"
    )
    whole: bool = True

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Write everything, then yield the one row."""
        task = TaskContext.get()
        assert task is not None, "pieces are written by Spark tasks only"
        path = str(Path(self.folder, f"{task.partitionId():06d}-{task.taskAttemptId()}"))
        try:
            piece = self._write(path, answers)
        except InputError as error:
            piece = Piece(path, failure=str(error))
        yield _row(piece)

    def _write(self, path: str, answers: Iterable[Answered]) -> Piece:
        publications = matched = pairs = rejected = 0
        with ExitStack() as stack:
            matches = stack.enter_context(_stream(_matches_path(path), MATCHES))
            rejects = stack.enter_context(_stream(_rejects_path(path), REJECTS))
            for answer in answers:
                matches.write_table(answer.matches.cast(MATCHES))
                rejects.write_table(Rejects(list(answer.rejects)).to_table())
                publications += answer.publications
                matched += answer.matches.num_rows
                pairs += _pairs(answer.matches)
                rejected += len(answer.rejects)
                self.progress.add(answer.publications)
        return Piece(path, publications, matched, pairs, rejected)


def _pairs(matches: pa.Table) -> int:
    lengths = pc.list_value_length(matches["subscriptions"])
    return pc.sum(lengths, min_count=0).as_py() or 0


def _matches_path(path: str) -> str:
    return f"{path}.matches.arrow"


def _rejects_path(path: str) -> str:
    return f"{path}.rejects.arrow"


def _stream(path: str, schema: pa.Schema) -> pa.RecordBatchStreamWriter:
    return pa.ipc.new_stream(path, schema, options=_COMPRESSION)


def _row(piece: Piece) -> pa.RecordBatch:
    values = {
        "path": pa.array([piece.path], pa.string()),
        "publications": pa.array([piece.publications], pa.int64()),
        "matched": pa.array([piece.matched], pa.int64()),
        "pairs": pa.array([piece.pairs], pa.int64()),
        "rejected": pa.array([piece.rejected], pa.int64()),
        "failure": pa.array([piece.failure], pa.string()),
    }
    return pa.RecordBatch.from_pydict(values)
