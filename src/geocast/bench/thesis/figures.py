"""Figures as lists of what has to be measured for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from geocast.bench.thesis.setting import Setting

__all__ = ["EXPERIMENTS", "JOINS", "OVERHEAD", "Cell", "Figure", "Quantity"]

Quantity = Literal["rate", "latency", "static", "dynamic"]

EXPERIMENTS = {
    "A": "variants of RIS and sPS",
    "B": "variants of sPIS",
    "C": "variants of RIsPS",
    "D": "variants of RIhPS",
    "E": "types of executors",
    "F": "partitions of the subscriptions",
    "G": "concurrent streaming jobs",
    "H": "Kafka partitions",
    "I": "publications",
    "J": "executors",
    "K": "subscriptions",
    "L": "memory",
    "M": "share of points",
    "N": "predicates",
    "8.4": "against one process without Spark, and Apache Sedona",
}
"""The experiments by the names that the thesis gives them."""

OVERHEAD, JOINS = "8.31", "8.32"
"""The figures that the thesis does not have."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a figure: which line it is on, where, and what gives its value."""

    series: str
    x: float
    label: str
    setting: Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of the thesis."""

    number: str
    experiment: str
    title: str
    axis: str
    quantity: Quantity = "rate"
    bars: bool = False
    cells: tuple[Cell, ...]

    def settings(self) -> Iterator[Setting]:
        """Yield what has to be measured, possibly the same more than once."""
        return (cell.setting for cell in self.cells)
