"""A bad record is a value: it says which record it was and why it was not used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from geocast.model.schema import REJECTS

__all__ = ["Reject", "Rejects", "Side"]

Side = Literal["subscriptions", "publications"]


@dataclass(frozen=True, slots=True)
class Reject:
    """One record that was not used.

    `row` is the record's 0-based place in its input (feature, line or row number);
    `id` is None where the record has no readable id.
    """

    side: Side
    row: int
    id: str | None
    reason: str

    def __str__(self) -> str:
        name = f" (id {self.id!r})" if self.id is not None else ""
        return f"{self.side} row {self.row}{name}: {self.reason}"


@dataclass(slots=True)
class Rejects:
    """The bad records met so far, in the order in which they were met."""

    records: list[Reject] = field(default_factory=list)

    def add(self, side: Side, row: int, record: str | None, reason: str) -> None:
        """Note one bad record; `record` is its id, if it has one."""
        self.records.append(Reject(side, row, record, reason))

    def extend(self, records: Iterable[Reject]) -> None:
        """Note several bad records."""
        self.records.extend(records)

    def to_table(self) -> pa.Table:
        """Return them as a table with the schema REJECTS."""
        rows = [
            {"side": r.side, "row": r.row, "id": r.id, "reason": r.reason} for r in self.records
        ]
        return pa.Table.from_pylist(rows, schema=REJECTS)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Reject]:
        return iter(self.records)
