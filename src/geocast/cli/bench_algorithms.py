"""`geocast bench partitions`, `adaptive` and `auto`: how subscriptions are divided, and by whom."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from geocast.cli.bench_shared import DISAGREES, DataOption, announced, names_in, table_console
from geocast.errors import InputError

__all__ = ["adaptive", "auto", "partitions"]


def partitions(
    count: Annotated[int, typer.Option(help="Cells, at most.", min=1)] = 100,
    subs: Annotated[int, typer.Option(help="Subscriptions.", min=1)] = 10_000,
    pubs: Annotated[int, typer.Option(help="Publications.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the workload.", min=0)] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("bench-partitions"),
    data: DataOption = None,
) -> None:
    """Cut the plane by every spatial partitioning; draw the cells and show how even they are."""
    from geocast.bench.data import DataFolder
    from geocast.bench.partitions import bounds_of, measure_partitions
    from geocast.bench.report.partitions import partition_table, plot_partitions
    from geocast.bench.workload import RECIPES, make
    from geocast.match.partition import METHODS

    recipe = replace(RECIPES["thesis"], subs=subs, pubs=pubs, seed=seed)
    folder = DataFolder.find(data)
    with announced(1 + len(METHODS), "bench partitions") as announce:
        announce(f"drawing {subs:,} subscriptions, {pubs:,} publications")
        made = make(recipe, folder)
        boxes = bounds_of(made.subscriptions)
        found = measure_partitions(boxes, bounds_of(made.publications), count, announce)
    out.mkdir(parents=True, exist_ok=True)
    picture = plot_partitions(found, boxes, out / "partitions")[0]
    table_console().print(partition_table(found))
    typer.echo(f"picture: {picture}")


def adaptive(
    algorithm: Annotated[
        str, typer.Option(help="One that divides by place, such as sPIS[QT]{QT}.")
    ] = "sPIS[QT]{QT}",
    cells: Annotated[int, typer.Option(help="Cells, at most.", min=1)] = 50,
    subs: Annotated[int, typer.Option(help="Subscriptions.", min=1)] = 10_000,
    pubs: Annotated[int, typer.Option(help="Publications an hour, at most.", min=1)] = 20_000,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("bench-adaptive"),
    data: DataOption = None,
) -> None:
    """Match taxis by the hour of the day, with partitions that follow the load and ones that stay.

    Needs the file sf_cabspotting_week of docs/benchmarks.md.
    """
    from geocast.bench.adaptive import HOURS, run_adaptive, taxi_hours
    from geocast.bench.data import DataFolder
    from geocast.bench.report.adaptive import adaptive_table, plot_adaptive
    from geocast.bench.workload import RECIPES, make
    from geocast.pipeline.variants import is_auto, parse_name

    if is_auto(algorithm):
        raise InputError("auto may choose what does not divide by place; name what does")
    divider = parse_name(algorithm).divider(cells)
    if divider is None or divider.method is None:
        raise InputError(f"{algorithm} does not divide by place, so no partition can follow")
    folder = DataFolder.find(data)
    with announced(1 + 2 * (1 + HOURS), "bench adaptive") as announce:
        announce(f"drawing {subs:,} subscriptions")
        made = make(replace(RECIPES["tracks"], subs=subs, pubs=1), folder)
        found = run_adaptive(made.subscriptions, taxi_hours(folder, pubs), divider, announce)
    out.mkdir(parents=True, exist_ok=True)
    picture = plot_adaptive(found, out / "adaptive")[0]
    table_console().print(adaptive_table(found))
    typer.echo(f"picture: {picture}")


def auto(
    only: Annotated[str, typer.Option(help="Workloads, separated by commas; else all.")] = "",
    pubs: Annotated[int, typer.Option(help="Publications.", min=1)] = 5_000,
    subs: Annotated[int, typer.Option(help="Subscriptions.", min=1)] = 10_000,
    rounds: Annotated[int, typer.Option(help="Rounds; the best time counts.", min=1)] = 2,
    data: DataOption = None,
) -> None:
    """Match every workload with what `--algorithm auto` chooses, and with the representatives.

    Exit status 1 where matches differ.
    """
    from geocast.bench.auto import count_auto, run_auto
    from geocast.bench.data import DataFolder
    from geocast.bench.report.auto import auto_table
    from geocast.bench.suite import choose, sized
    from geocast.bench.thesis.scale import SCALES

    names = choose(names_in(only), million=False, spark=False)
    recipes = {name: sized(name, subs, pubs, 1) for name in names}
    folder, cores = DataFolder.find(data), os.cpu_count() or 1
    with announced(count_auto(recipes, rounds), "bench auto") as announce:
        found = list(run_auto(recipes, folder, SCALES["full"], cores, rounds, announce))
    table_console().print(auto_table(found))
    if not all(one.agree for one in found):
        raise typer.Exit(DISAGREES)
