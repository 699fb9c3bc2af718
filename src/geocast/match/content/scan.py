"""Which candidate pairs fulfil the attribute constraints of their filter.

The scan evaluates each constraint that occurs among the candidates once on the whole batch,
then crosses out the pairs that need it and do not have it. It is at its best when many filters
share few constraints; a million filters with a million different constraints cost one pass over
the batch for each that occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from geocast.language import AttributeConstraint
from geocast.match.content.evaluate import Evaluator
from geocast.match.content.properties import property_names
from geocast.match.content.values import Mask
from geocast.match.geometry.shapes import frozen

__all__ = ["Scan"]

_Int32 = NDArray[np.int32]
_Int64 = NDArray[np.int64]


class Scan:
    """The attribute constraints of many filters.

    Filter r needs `constraints[items[offsets[r]:offsets[r + 1]]]` all to be TRUE; one without
    any accepts everything. The arrays may be memory-mapped and are never written to.
    """

    def __init__(
        self,
        constraints: Sequence[AttributeConstraint],
        offsets: _Int64,
        items: _Int32,
    ) -> None:
        self._constraints = tuple(constraints)
        self._offsets = frozen(offsets, np.int64)
        self._items = frozen(items, np.int32)

    @cached_property
    def properties(self) -> frozenset[str]:
        """The attribute names that the constraints use."""
        return property_names(constraint.expression for constraint in self._constraints)

    def accepts(self, batch: pa.RecordBatch, publications: _Int32, rows: _Int32) -> Mask:
        """Return, for each candidate pair (row of the batch, filter), whether it holds."""
        accepted = np.ones(len(rows), np.bool_)
        events, filters = frozen(publications, np.int32), frozen(rows, np.int32)
        starts = _count(self._offsets, self._items, filters, len(self._constraints))
        pairs = _group(self._offsets, self._items, filters, starts)
        evaluator = Evaluator(batch)
        for index in np.flatnonzero(np.diff(starts)):
            truth = evaluator.truth(self._constraints[index]).value
            group = pairs[starts[index] : starts[index + 1]]
            _cross_out(accepted, frozen(truth, np.bool_), events, group)
        return accepted


@njit(cache=True)
def _count(offsets: _Int64, items: _Int32, rows: _Int32, constraints: int) -> _Int64:
    """Return where the pairs of each constraint begin once they are grouped."""
    starts = np.zeros(constraints + 1, np.int64)
    for row in rows:
        for place in range(offsets[row], offsets[row + 1]):
            starts[items[place] + 1] += 1
    for index in range(constraints):
        starts[index + 1] += starts[index]
    return starts


@njit(cache=True)
def _group(offsets: _Int64, items: _Int32, rows: _Int32, starts: _Int64) -> _Int32:
    """Return the pairs that need each constraint, one group after the other."""
    pairs = np.empty(starts[-1], np.int32)
    free = starts[:-1].copy()
    for pair in range(len(rows)):
        row = rows[pair]
        for place in range(offsets[row], offsets[row + 1]):
            item = items[place]
            pairs[free[item]] = pair
            free[item] += 1
    return pairs


@njit(cache=True)
def _cross_out(accepted: Mask, truth: Mask, publications: _Int32, group: _Int32) -> None:
    """Reject the pairs of one constraint whose publication does not fulfil it."""
    for pair in group:
        if not truth[publications[pair]]:
            accepted[pair] = False
