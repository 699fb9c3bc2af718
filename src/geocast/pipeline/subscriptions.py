"""Subscriptions as one table on the driver, and where each of them stood in its input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast import files
from geocast.model import Reject, Rejects

__all__ = ["Subscriptions", "read_subscriptions"]


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """The readable subscriptions of an input, and those that were not readable.

    `rows[i]` is the place in the input of row i of `table`.
    """

    table: pa.Table
    rows: NDArray[np.int64]
    unreadable: tuple[Reject, ...]

    @classmethod
    def of(cls, table: pa.Table) -> Subscriptions:
        """Take a table as it is: all of it is readable."""
        return cls(table, np.arange(table.num_rows, dtype=np.int64), ())

    def all_rejects(self, refused: Rejects) -> list[Reject]:
        """Join the unreadable ones and those `refused` by rows of the table, in input order."""
        located = [
            Reject(reject.side, int(self.rows[reject.row]), reject.id, reject.reason)
            for reject in refused
        ]
        return sorted([*self.unreadable, *located], key=lambda reject: reject.row)


def _unwatched(position: int) -> None:
    """Ignore how far the file has been read."""


def read_subscriptions(
    path: str | Path, watch: Callable[[int], None] = _unwatched
) -> Subscriptions:
    """Read a file of subscriptions; `watch` is told how many of its bytes have been read."""
    batches, rows, unreadable = [], [np.empty(0, np.int64)], list[Reject]()
    for chunk in files.read(path, "subscriptions"):
        batches.append(chunk.batch)
        rows.append(chunk.rows)
        unreadable.extend(chunk.rejects)
        watch(chunk.position)
    table = pa.Table.from_batches(batches, schema=files.SUBSCRIPTIONS)
    return Subscriptions(table, np.concatenate(rows), tuple(unreadable))
