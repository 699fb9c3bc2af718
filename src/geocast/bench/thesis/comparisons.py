"""Experiments E to N and 8.4: the representatives beside each other, and beside rivals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from geocast.bench.thesis.figures import JOINS, OVERHEAD, Cell, Figure, Quantity
from geocast.bench.thesis.rivals import join_cells, overhead_cells, rival_cells
from geocast.bench.thesis.sizes import Sizes, Vary, labelled, taking_part
from geocast.bench.workload import PREDICATES

__all__ = ["comparison_figures"]

_WORDS = {
    "rate": "throughput",
    "latency": "latency",
    "static": "static memory",
    "dynamic": "dynamic memory",
}


@dataclass(frozen=True, slots=True)
class _Lines:
    """A figure with a line for each representative."""

    number: str
    experiment: str
    axis: str
    values: Sequence[float]
    vary: Vary
    quantity: Quantity = "rate"

    def figure(self, sizes: Sizes) -> Figure:
        """Return the figure with what has to be measured."""
        cells = [
            Cell(name, value, labelled(value), self.vary(sizes.batch(name), value))
            for name in taking_part(sizes.scale, self.experiment)
            for value in self.values
        ]
        return Figure(
            number=self.number,
            experiment=self.experiment,
            title=f"{_WORDS[self.quantity]} by {self.axis}",
            axis=self.axis,
            quantity=self.quantity,
            cells=tuple(cells),
        )


def comparison_figures(sizes: Sizes, sedona: bool) -> Iterator[Figure]:
    """Yield them in the order of the thesis."""
    yield _executors(sizes)
    yield from (lines.figure(sizes) for lines in _lines(sizes))
    yield _predicates(sizes)
    yield Figure(
        number="8.30",
        experiment="8.4",
        title="throughput by cores, beside one process without Spark",
        axis="cores",
        cells=tuple(rival_cells(sizes)),
    )
    yield Figure(
        number=OVERHEAD,
        experiment="8.4",
        title="RIS on Spark and one process, by publications",
        axis="publications",
        cells=tuple(overhead_cells(sizes)),
    )
    yield Figure(
        number=JOINS,
        experiment="8.4",
        title="spatial joins, and those of Apache Sedona",
        axis="publications",
        bars=True,
        cells=tuple(join_cells(sizes, sedona)),
    )


def _lines(sizes: Sizes) -> list[_Lines]:
    scale, jobs = sizes.scale, "concurrent streaming jobs"
    partitions = "partitions of the subscriptions"
    return [
        _Lines("8.19", "F", partitions, scale.partitions, sizes.with_cells),
        _Lines("8.20", "G", jobs, scale.jobs, sizes.with_jobs),
        _Lines("8.21", "G", jobs, scale.jobs, sizes.with_jobs, "latency"),
        _Lines("8.22", "H", "Kafka partitions", scale.kafka, sizes.with_kafka),
        _Lines("8.23", "I", "publications", scale.publications, sizes.with_pubs),
        _Lines("8.24", "J", "cores", sizes.core_counts, sizes.with_cores),
        _Lines("8.25", "K", "subscriptions", scale.subscriptions, sizes.with_subs),
        _Lines("8.26", "L", "subscriptions", scale.memory, sizes.with_memory, "static"),
        _Lines("8.27", "L", "subscriptions", scale.memory, sizes.with_memory, "dynamic"),
        _Lines("8.28", "M", "share of points", scale.points, sizes.with_points),
    ]


def _executors(sizes: Sizes) -> Figure:
    cells = [
        Cell(name, place, label, replace(sizes.batch(name), master=master))
        for name in taking_part(sizes.scale, "E")
        for place, (label, master) in enumerate(sizes.executors())
    ]
    return Figure(
        number="8.18",
        experiment="E",
        title="throughput by type of executors",
        axis="executors x cores",
        bars=True,
        cells=tuple(cells),
    )


def _predicates(sizes: Sizes) -> Figure:
    cells = [
        Cell(name, place, predicate, sizes.with_predicate(sizes.batch(name), predicate))
        for name in taking_part(sizes.scale, "N")
        for place, predicate in enumerate(("mixed", *PREDICATES))
    ]
    return Figure(
        number="8.29",
        experiment="N",
        title="throughput by predicate, publication first",
        axis="predicate",
        bars=True,
        cells=tuple(cells),
    )
