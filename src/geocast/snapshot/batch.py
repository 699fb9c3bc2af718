"""A batch of publications, made ready for several matchers.

Ids of publications may repeat within a batch, because each publisher chooses its own. Matchers
tell by id what matched; so they are given row numbers as ids. Only where a filter looks at `id`
they get the real ones, in several turns if some repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.match.columns import string_ids
from geocast.snapshot.numbers import Numbers

__all__ = ["Batch", "Turn"]


class Turn:
    """Rows of a batch whose ids are all different, for a matcher to answer."""

    def __init__(self, batch: pa.RecordBatch, ids: pa.StringArray, rows: Numbers | None) -> None:
        self.batch = batch
        self._ids = ids
        self._rows = rows

    def rows_of(self, ids: pa.ChunkedArray) -> Numbers:
        """Return the rows, in the whole batch, of these ids."""
        if self._rows is None:
            numbers: Numbers = pc.cast(ids, pa.int64()).to_numpy()
            return numbers
        places: Numbers = pc.index_in(ids, value_set=self._ids).to_numpy()
        return np.asarray(self._rows[places])

    def row_at(self, place: int) -> int:
        """Return the row, in the whole batch, at a place in this turn."""
        return place if self._rows is None else int(self._rows[place])


class Batch:
    """A batch of publications; raises InputError where it has no usable column `id`."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._ids = string_ids(batch, "publications")

    @property
    def nameless(self) -> NDArray[np.bool_]:
        """Which rows have no usable id."""
        which = np.zeros(self._batch.num_rows, np.bool_)
        which[list(self._ids.reasons)] = True
        return which

    def rejected(self, reasons: dict[int, str]) -> list[tuple[int, str | None, str]]:
        """Return (row, id, reason) of the rows that have these reasons, or no usable id."""
        reasons = reasons | self._ids.reasons
        return [(row, self._ids.text(row), reason) for row, reason in sorted(reasons.items())]

    def turns(self, *, real_ids: bool) -> list[Turn]:
        """Return the batch in turns: one with row numbers as ids, or some with the real ids."""
        return self._by_id if real_ids else self._by_number

    @cached_property
    def _by_number(self) -> list[Turn]:
        numbers = pc.cast(pa.array(np.arange(self._batch.num_rows)), pa.string())
        return [Turn(self._with_ids(self._batch, numbers), numbers, None)]

    @cached_property
    def _by_id(self) -> list[Turn]:
        turns = []
        for rows in _distinct(self._ids.values, np.flatnonzero(~self.nameless)):
            ids = self._ids.values.take(pa.array(rows))
            turns.append(Turn(self._with_ids(self._batch.take(pa.array(rows)), ids), ids, rows))
        return turns

    @staticmethod
    def _with_ids(batch: pa.RecordBatch, ids: pa.StringArray) -> pa.RecordBatch:
        return batch.set_column(batch.schema.get_field_index("id"), "id", ids)


def _distinct(ids: pa.StringArray, rows: Numbers) -> Iterator[Numbers]:
    """Yield rows without repeated ids: first all first occurrences, then all second ones, ..."""
    codes = pc.dictionary_encode(ids.take(pa.array(rows))).indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(starts, append=len(codes))
    turn = np.empty(len(codes), np.int64)
    turn[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    for number in range(int(sizes.max(initial=0))):
        yield rows[turn == number]
