"""What every matching algorithm on Spark offers, and the two ends it works between.

An algorithm does not know where publications come from or where matches go. A `Reader` turns
the Arrow batches of a Spark partition into chunks of publications; a `Writer` turns answers
into the Arrow batches that Spark takes back. Both are pickled and run in the workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from geocast.files import Chunk
from geocast.model import Reject, Rejects

__all__ = ["TASKS_A_CORE", "Algorithm", "Answered", "Reader", "Writer"]

TASKS_A_CORE: Final = 3
"""So many tasks for every core that none waits long for the last of another."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one chunk of publications.

    `publications` counts all records of the chunk, those in `rejects` included; `matches` has
    the schema MATCHES and lists the matched ones in the order of the chunk.
    """

    publications: int
    matches: pa.Table
    rejects: tuple[Reject, ...]


class Reader(Protocol):
    """The near end of a job: publications out of a Spark partition."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """Yield the publications of one partition; called once a task, in the worker."""
        ...


class Writer(Protocol):
    """The far end of a job: answers into what Spark takes back."""

    @property
    def schema(self) -> str:
        """The Spark schema, in DDL, of the batches that a call yields."""
        ...

    @property
    def whole(self) -> bool:
        """Whether all that a publication matched must be in one answer."""
        ...

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield batches of that schema; called once a task, in the worker."""
        ...


class Algorithm(Protocol):
    """A way to match on Spark, made ready for one set of subscriptions.

    Construction happens on the driver and may take long: it checks the subscriptions and
    builds what the workers need. After that, `run` may be called any number of times.
    """

    @property
    def rejects(self) -> Rejects:
        """The subscriptions that cannot be used; `row` is the row in their table."""
        ...

    @property
    def properties(self) -> frozenset[str]:
        """The attributes that the filters read; no others need to be read or sent."""
        ...

    def run(
        self, frame: DataFrame, read: Reader, write: Writer, tasks: int | None = None
    ) -> DataFrame:
        """Return, lazily, what `write` makes of the answers to all publications of `frame`.

        With `tasks`, the number of partitions of `frame`, partition k of what is returned has the
        answers to partition k of `frame`, in order.
        """
        ...
