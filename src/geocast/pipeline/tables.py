"""Answers as rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator

from geocast.model import MATCHES
from geocast.pipeline.base import Answered
from geocast.pipeline.tally import Tally

__all__ = ["MatchOrRejectRows", "MatchRows", "PairOrRejectRows", "PairRows"]

# Every batch of a task must have exactly the same Arrow schema, nullability included.
_REASON = pa.field("reason", pa.string())
_MATCH = pa.schema(
    [pa.field("publication", pa.string()), pa.field("subscriptions", pa.list_(pa.string()))]
)
_PAIR = pa.schema([pa.field("publication", pa.string()), pa.field("subscription", pa.string())])


@dataclass(frozen=True, slots=True)
class MatchRows:
    """Writes a row a matched publication, and counts the rejected ones on `tally`."""

    tally: Accumulator[Tally]
    schema: str = "publication string, subscriptions array<string>"
    whole: bool = True

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield the matches, batch by batch."""
        for answer in _counted(answers, self.tally):
            yield from answer.matches.cast(MATCHES).to_batches()


@dataclass(frozen=True, slots=True)
class PairRows:
    """Writes a row a matched pair, and counts the rejected publications on `tally`."""

    tally: Accumulator[Tally]
    schema: str = "publication string, subscription string"
    whole: bool = False

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield the pairs, batch by batch."""
        for answer in _counted(answers, self.tally):
            yield from _pairs(answer.matches).to_batches()


@dataclass(frozen=True, slots=True)
class MatchOrRejectRows:
    """Writes a row a matched publication (`reason` is null) or a rejected one."""

    schema: str = "publication string, subscriptions array<string>, reason string"
    whole: bool = True

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield the matches of each chunk, then its rejects."""
        for answer in answers:
            yield from _with_rejects(answer.matches, answer, _MATCH)


@dataclass(frozen=True, slots=True)
class PairOrRejectRows:
    """Writes a row a matched pair (`reason` is null) or a rejected publication."""

    schema: str = "publication string, subscription string, reason string"
    whole: bool = False

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield the pairs of each chunk, then its rejects."""
        for answer in answers:
            yield from _with_rejects(_pairs(answer.matches), answer, _PAIR)


def _counted(answers: Iterable[Answered], tally: Accumulator[Tally]) -> Iterator[Answered]:
    for answer in answers:
        if answer.rejects:
            tally.add(Tally(len(answer.rejects), answer.rejects[0]))
        yield answer


def _pairs(matches: pa.Table) -> pa.Table:
    lists = matches["subscriptions"].combine_chunks()
    publications = matches["publication"].take(pc.list_parent_indices(lists))
    return pa.table([publications, lists.flatten()], schema=_PAIR)


def _with_rejects(found: pa.Table, answer: Answered, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    full = schema.append(_REASON)
    nothing = pa.nulls(found.num_rows, pa.string())
    yield from found.append_column("reason", nothing).cast(full).to_batches()
    if answer.rejects:
        ids = pa.array([reject.id for reject in answer.rejects], pa.string())
        reasons = pa.array([reject.reason for reject in answer.rejects], pa.string())
        none = pa.nulls(len(ids), schema.field(1).type)
        yield pa.record_batch([ids, none, reasons], schema=full)
