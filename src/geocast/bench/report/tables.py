"""The results as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import JustifyMethod
from rich.table import Table

from geocast.bench.peers.shapely_plain import ShapelyPlain
from geocast.bench.results import Results
from geocast.bench.targets import Verdict

__all__ = ["RATE_HEADINGS", "TARGET_HEADINGS", "rate_rows", "rate_table", "target_table"]

RATE_HEADINGS = ("workload", "engine", "events/s", "x shapely", "events", "answers")
TARGET_HEADINGS = ("workload", "what", "found", "target", "")


def rate_rows(results: Results) -> Iterator[tuple[str, ...]]:
    """Yield a row of text for every engine of every workload, the absent ones last."""
    for workload in results.workloads():
        plain = results.rate(workload, ShapelyPlain.name)
        for engine in results.engines(workload):
            yield _row(results, workload, engine, plain)
        for absence in results.absences:
            if absence.workload == workload:
                yield workload, absence.engine, "-", "-", "-", f"not available: {absence.reason}"


def rate_table(results: Results) -> Table:
    """Return rates and ratios, and how far the answers agree."""
    table = Table(title="Rates: medians, one thread, CPU seconds (on Spark: two cores, wall)")
    for heading in RATE_HEADINGS:
        number = heading in RATE_HEADINGS[2:5]
        wraps = heading == RATE_HEADINGS[-1]
        side: JustifyMethod = "right" if number else "left"
        table.add_column(heading, justify=side, no_wrap=not wraps, min_width=8)
    last = None
    for workload, *row in rate_rows(results):
        if last not in (None, workload):
            table.add_section()
        table.add_row("" if workload == last else f"[bold]{workload}", *row)
        last = workload
    return table


def target_table(judged: Sequence[Verdict]) -> Table:
    """Return the targets with what was found."""
    table = Table(title="Targets")
    for heading in TARGET_HEADINGS:
        table.add_column(heading, justify="right" if heading in ("found", "target") else "left")
    for verdict in judged:
        mark = "[green]pass[/]" if verdict.passed else "[red]fail[/]"
        table.add_row(verdict.workload, verdict.what, verdict.found, verdict.target, mark)
    return table


def _row(results: Results, workload: str, engine: str, plain: float | None) -> tuple[str, ...]:
    rate = results.rate(workload, engine) or 0.0
    rows = results.of(workload, engine)[0].publications
    ratio = "-" if plain is None else _ratio(rate / plain)
    agreement = results.agreement(workload, engine)
    said = "" if agreement is None else str(agreement)
    return workload, engine, f"{rate:,.0f}", ratio, f"{rows:,}", said


def _ratio(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
