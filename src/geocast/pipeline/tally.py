"""Counts rejected publications across the workers and tells the driver's log about them."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from pyspark import Accumulator, SparkContext, TaskContext

from geocast.model import Reject

__all__ = ["Tally", "reject_tally"]

_log = logging.getLogger("geocast.spark")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many records were rejected, and the first that was heard of."""

    count: int
    first: Reject | None


def reject_tally(context: SparkContext) -> Accumulator[Tally]:
    """Return an accumulator that logs a warning whenever a task has rejected publications.

    It is for telling, not for accounting: a task that Spark runs twice counts twice.
    """
    return context.accumulator(Tally(0, None), _TallyParam())


class _TallyParam:
    """How Spark adds tallies up: in a worker in silence, on the driver aloud."""

    def zero(self, value: Tally) -> Tally:
        return Tally(0, None)

    def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802 (Spark's name)
        total = Tally(value1.count + value2.count, value1.first or value2.first)
        if TaskContext.get() is None and value2.count:
            _log.warning(
                "%d publications rejected so far, first (id %r): %s; rejects=True shows them all",
                total.count,
                total.first.id if total.first else None,
                total.first.reason if total.first else "",
            )
        return total
