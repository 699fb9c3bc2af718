"""Answers as rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import Accumulator

from geocast.model import MATCHES
from geocast.pipeline.base import Answered
from geocast.pipeline.tally import Tally

__all__ = ["MatchOrRejectRows", "MatchRows"]

# Every batch of a task must have exactly the same Arrow schema, nullability included.
_MATCH_OR_REJECT = pa.schema(
    [
        pa.field("publication", pa.string()),
        pa.field("subscriptions", pa.list_(pa.string())),
        pa.field("reason", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class MatchRows:
    """Writes a row a matched publication, and counts the rejected ones on `tally`."""

    tally: Accumulator[Tally]
    schema: str = "publication string, subscriptions array<string>"

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield the matches, batch by batch."""
        for answer in answers:
            if answer.rejects:
                self.tally.add(Tally(len(answer.rejects), answer.rejects[0]))
            yield from answer.matches.cast(MATCHES).to_batches()


@dataclass(frozen=True, slots=True)
class MatchOrRejectRows:
    """Writes a row a matched publication (`reason` is null) or a rejected one."""

    schema: str = "publication string, subscriptions array<string>, reason string"

    def __call__(self, answers: Iterable[Answered]) -> Iterator[pa.RecordBatch]:
        """Yield the matches of each chunk, then its rejects."""
        for answer in answers:
            nothing = pa.nulls(answer.matches.num_rows, pa.string())
            matches = answer.matches.append_column("reason", nothing)
            yield from matches.cast(_MATCH_OR_REJECT).to_batches()
            if answer.rejects:
                yield _reject_rows(answer)


def _reject_rows(answer: Answered) -> pa.RecordBatch:
    ids = [reject.id for reject in answer.rejects]
    nothing = pa.nulls(len(ids), pa.list_(pa.string()))
    reasons = [reject.reason for reject in answer.rejects]
    return pa.record_batch([pa.array(ids, pa.string()), nothing, reasons], schema=_MATCH_OR_REJECT)
