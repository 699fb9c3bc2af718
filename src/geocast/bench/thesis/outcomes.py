"""All that a run has found, and whether everybody gave the same matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from geocast.bench.thesis.figures import Cell, Figure
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.workload import Recipe

__all__ = ["REFERENCE", "Outcomes", "rows", "write_rows"]

REFERENCE = "RIS[HT]"
"""Whose matches all others are compared with."""


@dataclass(slots=True)
class Outcomes:
    """What was found by setting; where nothing was, why it cannot be or what went wrong."""

    found: dict[Setting, Found] = field(default_factory=dict)
    impossible: dict[Setting, str] = field(default_factory=dict)
    failed: dict[Setting, str] = field(default_factory=dict)

    def reason(self, setting: Setting) -> str:
        """Say why a setting has no numbers, or nothing where it has."""
        return self.impossible.get(setting) or self.failed.get(setting) or ""

    def differing(self) -> list[Setting]:
        """Return the settings whose matches are not those of the reference on their workload."""
        expected: dict[Recipe, str] = {}
        for setting, found in self.found.items():
            if setting.engine == REFERENCE:
                expected.setdefault(setting.recipe, found.matches)
        for setting, found in self.found.items():
            expected.setdefault(setting.recipe, found.matches)
        return [s for s, found in self.found.items() if found.matches != expected[s.recipe]]


def rows(figures: Iterable[Figure], outcomes: Outcomes) -> list[dict[str, Any]]:
    """Return a row for each point of each figure."""
    differing = set(outcomes.differing())
    return [_row(figure, cell, outcomes, differing) for figure in figures for cell in figure.cells]


def write_rows(table: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the rows as Parquet; columns that do not apply are null."""
    names = dict.fromkeys(name for row in table for name in row)
    columns = {name: [row.get(name) for row in table] for name in names}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def _row(figure: Figure, cell: Cell, outcomes: Outcomes, differing: set[Setting]) -> dict[str, Any]:
    found = outcomes.found.get(cell.setting)
    row = _head(figure) | {"series": cell.series, "x": float(cell.x), "label": cell.label}
    row |= cell.setting.flat()
    row |= asdict(found) if found else dict.fromkeys(field.name for field in fields(Found))
    row["agrees"] = None if found is None else cell.setting not in differing
    row["reason"] = outcomes.reason(cell.setting)
    return row


def _head(figure: Figure) -> dict[str, Any]:
    return {"experiment": figure.experiment, "figure": figure.number, "quantity": figure.quantity}
