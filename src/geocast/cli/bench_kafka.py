"""`geocast bench kafka`: the service with Kafka, measured from topic to topic."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer
from rich.table import Table

from geocast.cli.bench_shared import DISAGREES, DataOption, names_in, table_console
from geocast.cli.progress import open_steps
from geocast.errors import InputError

if TYPE_CHECKING:
    from geocast.bench.kafka import (
        CoreRate,
        Delay,
        KafkaService,
        RoleUsage,
        Round,
        Stage,
        Throughput,
    )

__all__ = ["kafka"]


def kafka(
    broker: Annotated[
        Path | None,
        typer.Option(
            metavar="SCRIPT",
            help="Start a broker of its own with this: scripts/kafka.sh of the source.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    url: Annotated[
        str, typer.Option("--kafka", help="Or use brokers that run: kafka://HOST:PORT.")
    ] = "",
    subs: Annotated[int, typer.Option(help="Subscriptions.", min=1)] = 10_000,
    pubs: Annotated[int, typer.Option(help="Publications for the throughput.", min=2)] = 40_000,
    warm: Annotated[int, typer.Option(help="Publications before that.", min=1)] = 4_000,
    rates: Annotated[
        str,
        typer.Option("--rate", help="Publications a second for the delay, separated by commas."),
    ] = "100",
    seconds: Annotated[float, typer.Option(help="How long for each; 0: not.", min=0)] = 60,
    throughput: Annotated[bool, typer.Option(help="Also the throughput.")] = True,
    seed: Annotated[int, typer.Option(help="The seed of chance.", min=0)] = 1,
    data: DataOption = None,
) -> None:
    """Measure a service of its own with Kafka, on the thesis's workload.

    Publications are written to the topic directly. Throughput: until all are in the topic of
    matches, beside the core without Kafka on as many processes, and beside Kafka without matching,
    which carries the same publications from topic to topic as they are; then until all matches
    are in the subscriber's topic. Delay: from producing a publication at a steady rate to reading
    of it in the subscriber's topic. Exit status 1 where a message is missing or too many.
    """
    from geocast.bench import kafka as bench
    from geocast.bench.data import DataFolder

    if (broker is None) == (not url):
        raise InputError("name either --broker SCRIPT or --kafka URL")
    chosen = [_rate(text) for text in names_in(rates)]
    folder = DataFolder.find(data)
    with open_steps() as steps, ExitStack() as stack:
        with steps.step("drawing the workload"):
            scene = bench.draw_scene(folder, subs, pubs, warm, seed)
        room = Path(stack.enter_context(TemporaryDirectory(prefix="geocast-bench-")))
        if throughput:
            with steps.step("the core in two processes"):
                core = bench.measure_core(scene)
        with steps.step("starting broker and service"):
            service = _started(stack, room, broker, url)
        with steps.step(f"subscribing {subs:,} times"):
            service.fill(scene, topic=True)
        with steps.step("warming up"):
            bench.warm_up(service, scene)
        if throughput:
            with steps.step(f"{pubs:,} publications, twice"):
                found = bench.measure_throughput(service, scene)
            with steps.step("the stages of a worker"):
                stages = bench.measure_stages(service, room / "stages")
            with steps.step("Kafka alone in two processes"):
                carried = bench.measure_carrying(service)
            _print_throughput(core, carried, found, stages)
        wrong = 0
        for number, rate in enumerate(chosen if seconds else ()):
            name = f"r{number}-"
            with steps.step(f"delay at {rate:,.0f} publications/s"):
                delay = bench.measure_delay(service, scene, rate=rate, seconds=seconds, name=name)
            _print_delay(delay)
            wrong += delay.wrong
    if wrong:
        raise typer.Exit(DISAGREES)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1e6:
        raise InputError(f"--rate takes numbers above 0, not {text!r}")
    return rate


def _started(stack: ExitStack, room: Path, script: Path | None, url: str) -> KafkaService:
    """Start what is measured, for as long as the stack lasts; its topics are its own."""
    from geocast.bench.kafka import KafkaService, running_broker

    home = room / "broker" if script else None
    if script and home:
        url = f"kafka://{stack.enter_context(running_broker(script, home))}"
    service = KafkaService(room / "data", f"{url.rstrip('/')}/bench-{uuid4().hex[:8]}", home)
    stack.enter_context(service)
    return service


def _print_throughput(
    core: CoreRate, carried: float, found: Throughput, stages: list[Stage]
) -> None:
    console = table_console()
    table = _table("Publications a second", "", "publications/s", "matches/s", "of the core")
    table.add_row("core, two processes", f"{core.fresh:,.0f}", "", "1.00")
    table.add_row("core, every geometry seen", f"{core.again:,.0f}", "", "1.00")
    table.add_row("core, one process, nothing seen", f"{core.cold:,.0f}", "", "")
    table.add_row(
        "Kafka alone, from topic to topic", f"{carried:,.0f}", "", f"{carried / core.fresh:.3f}"
    )
    table.add_row(*_row("topic to topic of matches", found.fresh, core.fresh))
    table.add_row(*_row("the same, every geometry seen", found.again, core.again))
    table.add_row(*_row("matches to the subscriber's topic", found.delivered, 0.0))
    console.print(table)
    for one in (found.fresh, found.again, found.delivered):
        console.print(_usage_table(f"{one.name}: {one.seconds:.1f} s", one.usage))
    console.print(
        "A worker, microseconds of processors a publication: "
        + ", ".join(f"{stage.name} {stage.microseconds:.0f}" for stage in stages),
        highlight=False,
    )


def _row(title: str, found: Round, core: float) -> tuple[str, ...]:
    ratio = f"{found.rate / core:.3f}" if core else ""
    return title, f"{found.rate:,.0f}", f"{found.matches / found.seconds:,.0f}", ratio


def _print_delay(delay: Delay) -> None:
    console = table_console()
    table = _table(f"Delay at {delay.rate:,.0f} publications/s", "p50", "p90", "p99", "worst")
    table.add_row(*(f"{one:.2f} s" for one in (delay.p50, delay.p90, delay.p99, delay.worst)))
    console.print(table)
    console.print(
        f"{delay.published:,} publications, {delay.messages:,} messages with {delay.matches:,} "
        f"matches of {delay.expected:,}, "
        f"{delay.wrong:,} publications with too many or too few; the last message "
        f"{delay.behind:.1f} s after the last publication; the publisher at most "
        f"{delay.lag:.2f} s late",
        highlight=False,
    )
    console.print(_usage_table("What the processes took", delay.usage))


def _usage_table(title: str, usage: list[RoleUsage]) -> Table:
    fifths = [f"MB, fifth {number}" for number in range(1, 6)]
    table = _table(title, "", "CPU s", *fifths)
    for one in usage:
        memory = (f"{size / 1e6:,.0f}" for size in one.memory)
        table.add_row(one.role, f"{one.cpu_seconds:.1f}", *memory)
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    return table
