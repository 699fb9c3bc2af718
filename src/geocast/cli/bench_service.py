"""`geocast bench live` and `geocast bench chaos`: the running service, measured and mistreated."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from geocast.cli.bench_shared import DISAGREES, DataOption, table_console
from geocast.cli.progress import open_steps

if TYPE_CHECKING:
    from geocast.bench.chaos import Verdict
    from geocast.bench.live import Delay, Load, Usage

__all__ = ["chaos", "live"]

_SHOWN = 10
Keep = Annotated[
    Path | None,
    typer.Option(
        "--keep", help="Run the service in this new directory and leave it there.", metavar="DIR"
    ),
]


def live(
    subs: Annotated[int, typer.Option(help="Subscriptions.", min=1)] = 10_000,
    matches: Annotated[float, typer.Option(help="Matches an event, on average.", min=0.1)] = 10,
    rate: Annotated[float, typer.Option(help="Points a second for the delay.", min=1)] = 500,
    load: Annotated[float, typer.Option(help="Points a second for the load.", min=1)] = 5_500,
    seconds: Annotated[float, typer.Option(help="How long each of the two takes.", min=1)] = 60,
    data: DataOption = None,
    keep: Keep = None,
) -> None:
    """Measure a service of its own: how late notifications are, how many events it bears.

    Events are real accident positions, subscriptions areas around such positions. For the delay,
    notifications are received over server-sent events; for the load, they go into mailboxes.
    """
    from geocast.bench.data import DataFolder
    from geocast.bench.live import fill, make_scene, measure_delay, measure_load
    from geocast.bench.service import ServiceUnderTest

    folder = DataFolder.find(data)
    with open_steps() as steps, _directory(keep) as directory:
        with steps.step("drawing the scene"):
            scene = make_scene(folder, subs, matches)
        with steps.step("starting the service"):
            service = ServiceUnderTest(directory)
            service.start()
            service.wait_ready()
        try:
            with steps.step(f"subscribing {subs:,} times"):
                token = fill(service, scene)
            with steps.step("warming up"):
                measure_load(service, scene, token, rate=rate, seconds=5, name="w")
            with steps.step(f"delay at {rate:,.0f} points/s"):
                delay = measure_delay(service, scene, token, rate=rate, seconds=seconds)
            with steps.step(f"load of {load:,.0f} points/s"):
                borne = measure_load(service, scene, token, rate=load, seconds=seconds)
        finally:
            service.stop()
    _print_live(delay, borne)


def chaos(
    kills: Annotated[int, typer.Option(help="How many times to kill.", min=1)] = 300,
    seed: Annotated[int, typer.Option(help="The seed of chance.", min=0)] = 1,
    cluster: Annotated[
        Path | None,
        typer.Option(
            metavar="SCRIPT",
            help="Break a whole cluster that this script starts: scripts/cluster.sh of the source.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    keep: Keep = None,
) -> None:
    """Use a service of its own and break it at random; nothing may be lost, repeated or wrong.

    Publishers and subscribers act all the time, and insist. Killed (-9) are the pipeline, a Python
    worker, Spark's Java, the gateway, the delivery, or all at once; in a cluster also brokers,
    workers and executors of Spark, the driver and the database; processes are paused, disks filled,
    and a broker is cut off. At the end every mailbox, all that live clients heard and all that
    stands in topics is compared with brute force. Exit status 1 if anything is wrong.
    """
    from geocast.bench.chaos import run_chaos
    from geocast.bench.cluster import ClusterUnderTest
    from geocast.bench.service import ServiceUnderTest

    with _directory(keep) as directory:
        folder = directory / "data"
        system = ClusterUnderTest(cluster, folder) if cluster else ServiceUnderTest(folder)
        with system:
            verdict = run_chaos(
                system, kills, seed, lambda text: print(text, file=sys.stderr, flush=True)
            )
    _print_chaos(verdict)
    if verdict.wrong:
        raise typer.Exit(DISAGREES)


@contextmanager
def _directory(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="geocast-bench-") as name:
        yield Path(name)


def _print_live(delay: Delay, load: Load) -> None:
    console = table_console()
    table = Table(title=f"{delay.subscriptions:,} subscriptions")
    for heading in ("", "points/s", "published", "notifications", "p50", "p90", "p99", "worst"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row(
        "delay (SSE)",
        f"{delay.rate:,.0f}",
        f"{delay.published:,}",
        f"{delay.notifications:,}",
        *(f"{value:.2f} s" for value in (delay.p50, delay.p90, delay.p99, delay.worst)),
    )
    table.add_row(
        "load (mailboxes)", f"{load.rate:,.0f}", f"{load.published:,}", f"{load.notifications:,}"
    )
    console.print(table)
    console.print(
        f"load: {load.offered:,.0f} points/s offered, {load.notifications / load.published:.1f} "
        f"matches each; the last was delivered after {load.seconds:.1f} s"
    )
    console.print(_usage_table(delay.usage, load.usage))


def _usage_table(delay: list[Usage], load: list[Usage]) -> Table:
    table = Table(title="What the processes took")
    for heading in ("", "CPU s (delay)", "CPU s (load)", "memory MB (delay)", "memory MB (load)"):
        table.add_column(heading, justify="right" if heading else "left")
    for first, second in zip(delay, load, strict=True):
        table.add_row(
            first.role,
            f"{first.cpu_seconds:.1f}",
            f"{second.cpu_seconds:.1f}",
            f"{first.memory / 1e6:,.0f}",
            f"{second.memory / 1e6:,.0f}",
        )
    return table


def _print_chaos(verdict: Verdict) -> None:
    console = table_console()
    table = Table(title=f"{sum(verdict.kills.values())} faults")
    for heading in ("killed, or worse", "times", "notified again after (median)", "worst"):
        table.add_column(heading, justify="left" if heading.startswith("killed") else "right")
    for target, times in sorted(verdict.kills.items()):
        waits = sorted(verdict.recovery.get(target, []))
        # Without any, the next fault came before anybody had been notified again.
        shown = (waits[len(waits) // 2], waits[-1]) if waits else ()
        table.add_row(target, str(times), *(f"{wait:.1f} s" for wait in shown))
    console.print(table)
    console.print(
        f"{verdict.publications:,} publications ({verdict.withdrawn:,} withdrawn) in "
        f"{verdict.batches:,} batches, {verdict.versions:,} versions of subscriptions, "
        f"{verdict.matches:,} matches, {verdict.heard_live:,} heard live, "
        f"{verdict.in_topics:,} in topics"
    )
    for guarantee in sorted({found.guarantee for found in verdict.wrong}):
        wrong = [found.text for found in verdict.wrong if found.guarantee == guarantee]
        console.print(f"[red]{guarantee}[/red]: {len(wrong):,} wrong", highlight=False)
        for text in wrong[:_SHOWN]:
            console.print(f"  {text}", highlight=False)
    console.print(
        f"{len(verdict.wrong):,} wrong" if verdict.wrong else "nothing lost, twice or wrong"
    )
