"""`geocast bench thesis`: the thesis's experiments, and its claims judged by them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from geocast.cli.bench_shared import DISAGREES, DataOption, names_in, table_console
from geocast.cli.progress import open_steps
from geocast.errors import UnknownNameError

if TYPE_CHECKING:
    from geocast.bench.thesis.claims import Judged
    from geocast.bench.thesis.outcomes import Outcomes
    from geocast.bench.thesis.run import Watch

__all__ = ["thesis"]

_QUICK_CORES = 2
_LINE_SECONDS = 10.0
_STYLES = {"confirmed": "green", "refuted": "red"}


def thesis(
    only: Annotated[
        str, typer.Option(help="Experiments, A to N and 8.4, separated by commas; else all.")
    ] = "",
    scale: Annotated[str, typer.Option(help="small or full.")] = "small",
    sedona: Annotated[
        bool,
        typer.Option("--sedona", help="Also Apache Sedona, in an environment made for it."),
    ] = False,
    kafka: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Also Kafka partitions (H), on brokers such as kafka://127.0.0.1:9092.",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("bench-thesis"),
    data: DataOption = None,
) -> None:
    """Run the experiments of the thesis and set its claims beside what was measured.

    What is in OUT already is not measured again. Exit status 1 where a variant gave other matches
    than RIS, or a measurement failed.
    """
    from geocast.bench.data import DataFolder
    from geocast.bench.thesis.kafka import check_kafka
    from geocast.bench.thesis.plan import plan
    from geocast.bench.thesis.report import write_thesis_report
    from geocast.bench.thesis.run import run_thesis
    from geocast.bench.thesis.scale import SCALES
    from geocast.bench.thesis.sedona_room import environment_folder

    if kafka:
        check_kafka(kafka)
    if scale not in SCALES:
        raise UnknownNameError("scale", scale, SCALES)
    here = os.cpu_count() or 1
    cores = here if scale == "full" else min(here, _QUICK_CORES)
    names = [name.upper() for name in names_in(only)]
    figures = plan(SCALES[scale], cores, names, sedona=sedona)
    folder = DataFolder.find(data)
    with _watched() as watch:
        environment = environment_folder() if sedona else None
        java = SCALES[scale].java
        outcomes = run_thesis(
            figures, folder, out, watch, sedona=environment, kafka=kafka, java=java
        )
    command = f"geocast {' '.join(sys.argv[1:])}"
    judged = write_thesis_report(figures, outcomes, SCALES[scale], cores, out, command)
    _print(judged, outcomes)
    typer.echo(f"report: {out / 'index.html'}")
    if outcomes.failed or outcomes.differing():
        raise typer.Exit(DISAGREES)


@contextmanager
def _watched() -> Iterator[Watch]:
    """Show a bar, or from time to time a line, with what runs now and how long the rest takes."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    with open_steps() as steps, steps.step("bench thesis", 1000) as step:

        def watch(done: int, total: int, left: float, what: str) -> None:
            step.update(1000 * done // max(total, 1), _note(done, total, left, what))

        yield watch


class _Lines:
    """Prints no more than a line in ten seconds."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def __call__(self, done: int, total: int, left: float, what: str) -> None:
        if time.monotonic() - self._last >= _LINE_SECONDS:
            self._last = time.monotonic()
            print(_note(done, total, left, what), file=sys.stderr, flush=True)


def _note(done: int, total: int, left: float, what: str) -> str:
    return f"{done + 1} of {total}, about {_duration(left)} left: {what}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _print(judged: list[Judged], outcomes: Outcomes) -> None:
    console = table_console()
    table = Table(title="The thesis's claims")
    for heading in ("", "claim", "measured here", "verdict"):
        table.add_column(heading)
    for one in judged:
        if one.word == "not measured":
            continue
        style = _STYLES.get(one.word, "dim")
        verdict = f"[{style}]{one.word}[/]"
        table.add_row(one.claim.experiment, one.claim.text, escape(one.found), verdict)
    console.print(table)
    missing = sum(one.word == "not measured" for one in judged)
    if missing:
        console.print(f"{missing} claims were not measured by this run")
    for setting, reason in outcomes.failed.items():
        console.print(f"{setting}: {reason}", style="red", markup=False)
    for setting in outcomes.differing():
        console.print(f"{setting}: other matches than RIS", style="red", markup=False)
