"""The readable cases: name | WKT A | WKT B | the predicates that hold for A against B."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shapely

__all__ = ["Case", "read_cases"]

_FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One line of a case file."""

    name: str
    first: Any
    second: Any
    predicates: frozenset[str]

    @property
    def types(self) -> tuple[str, str]:
        return self.first.geom_type, self.second.geom_type

    def __str__(self) -> str:
        return f"{'-'.join(self.types)}: {self.name}"


def read_cases() -> list[Case]:
    return [
        _case(line)
        for file in sorted(_FOLDER.glob("*.txt"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]


def _case(line: str) -> Case:
    name, first, second, predicates = (part.strip() for part in line.split("|"))
    return Case(
        name, shapely.from_wkt(first), shapely.from_wkt(second), frozenset(predicates.split())
    )
