"""What a benchmark run finds out, and how it is kept as Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["Absence", "Agreement", "Clock", "IndexFacts", "Measurement", "Results"]

Clock = Literal["cpu", "wall"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One engine has matched one batch; `clock` says which seconds its rate counts."""

    workload: str
    engine: str
    repetition: int
    subscriptions: int
    publications: int
    pairs: int
    cpu_seconds: float
    wall_seconds: float
    clock: Clock = "cpu"

    @property
    def rate(self) -> float:
        """Publications a second."""
        seconds = self.cpu_seconds if self.clock == "cpu" else self.wall_seconds
        return self.publications / max(seconds, 1e-9)


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What it takes to build, keep and open Geocast's index of a workload."""

    workload: str
    subscriptions: int
    rejected: int
    build_cpu_seconds: float
    build_wall_seconds: float
    open_seconds: float
    bytes: int

    @property
    def bytes_per_subscription(self) -> float:
        """The size of the memory-mapped files for each subscription, on average."""
        return self.bytes / max(self.subscriptions, 1)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How an engine's pairs compare with Geocast's, on the publications that it matched."""

    workload: str
    engine: str
    publications: int
    pairs: int
    lacking: int
    surplus: int

    @property
    def full(self) -> bool:
        """Whether both found the same pairs."""
        return not (self.lacking or self.surplus)

    def __str__(self) -> str:
        if self.full:
            return "agrees"
        return f"lacks {self.lacking:,}, adds {self.surplus:,} of {self.pairs:,}"


@dataclass(frozen=True, slots=True)
class Absence:
    """An engine that did not take part in a workload, and why."""

    workload: str
    engine: str
    reason: str


@dataclass(slots=True)
class Results:
    """Everything that a run has found so far."""

    measurements: list[Measurement] = field(default_factory=list)
    indexes: list[IndexFacts] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)

    def workloads(self) -> list[str]:
        """Return the names of the workloads, in the order in which they ran."""
        return list(dict.fromkeys(m.workload for m in self.measurements))

    def engines(self, workload: str | None = None) -> list[str]:
        """Return the names of the engines (of a workload), in the order in which they ran."""
        chosen = (m for m in self.measurements if workload in (None, m.workload))
        return list(dict.fromkeys(m.engine for m in chosen))

    def of(self, workload: str, engine: str) -> list[Measurement]:
        """Return all repetitions of an engine on a workload."""
        return [m for m in self.measurements if (m.workload, m.engine) == (workload, engine)]

    def rate(self, workload: str, engine: str) -> float | None:
        """Return the median of an engine's rates on a workload, or None where it has none."""
        rates = [measurement.rate for measurement in self.of(workload, engine)]
        return median(rates) if rates else None

    def agreement(self, workload: str, engine: str) -> Agreement | None:
        """Return how an engine's pairs compare with Geocast's."""
        found = (a for a in self.agreements if (a.workload, a.engine) == (workload, engine))
        return next(found, None)

    def write(self, directory: Path) -> None:
        """Write each list as a Parquet file into the directory."""
        directory.mkdir(parents=True, exist_ok=True)
        for name in ("measurements", "indexes", "agreements", "absences"):
            pq.write_table(_table(getattr(self, name)), directory / f"{name}.parquet")


def _table(records: Sequence[Any]) -> pa.Table:
    rows = [asdict(record) | _derived(record) for record in records]
    return pa.Table.from_pylist(rows) if rows else pa.table({"workload": pa.array([], pa.string())})


def _derived(record: object) -> dict[str, float]:
    if isinstance(record, Measurement):
        return {"rate": record.rate}
    return {}
