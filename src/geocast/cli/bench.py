"""`geocast bench`: workloads, and Geocast beside its peers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from geocast.cli.bench_service import chaos, live
from geocast.cli.bench_thesis import thesis
from geocast.cli.progress import open_steps
from geocast.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from geocast.bench.results import Results
    from geocast.bench.transport import SparkSide

__all__ = ["app"]

DISAGREES = 1

_FILE_WIDTH = 120
"""Columns of the tables where standard output is no terminal."""

app = typer.Typer(help="Measure Geocast, on workloads drawn from real data.", no_args_is_help=True)
app.command()(live)
app.command()(chaos)
app.command()(thesis)

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the data files; else $GEOCAST_DATA.", metavar="DIR"),
]


@app.command()
def workload(
    out: Annotated[Path, typer.Argument(help="Folder to write to.")],
    kind: Annotated[str, typer.Option(help="Which workload; see docs/benchmarks.md.")] = "thesis",
    subs: Annotated[int | None, typer.Option(help="Subscriptions.", min=1)] = None,
    pubs: Annotated[int | None, typer.Option(help="Publications.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.", min=0)] = 1,
    points: Annotated[
        float | None, typer.Option(help="Share of points among publications.", min=0, max=1)
    ] = None,
    predicate: Annotated[str | None, typer.Option(help="One predicate, or mixed.")] = None,
    densify: Annotated[
        float | None, typer.Option(help="Longest edge in degrees; 0: as it is.", min=0)
    ] = None,
    unique: Annotated[
        bool | None, typer.Option("--unique", help="No geometry ever repeats.")
    ] = None,
    attributes: Annotated[
        bool | None, typer.Option("--attributes", help="Attributes, and CQL2 filters on them.")
    ] = None,
    data: DataOption = None,
) -> None:
    """Write a workload: OUT/subscriptions.parquet and OUT/publications.parquet."""
    from geocast.bench.data import DataFolder
    from geocast.bench.workload import RECIPES, make, write

    if kind not in RECIPES:
        raise UnknownNameError("kind of workload", kind, RECIPES)
    options: dict[str, Any] = {"subs": subs, "pubs": pubs, "seed": seed, "points": points}
    options |= {"predicate": predicate, "densify": densify}
    options |= {"unique": unique, "attributes": attributes}
    given = {name: value for name, value in options.items() if value is not None}
    made = make(replace(RECIPES[kind], **given), DataFolder.find(data))
    write(made, out)
    for side in ("subscriptions", "publications"):
        typer.echo(f"{side}: {_describe(getattr(made, side)['geometry'])}")


@app.command()
def core(
    only: Annotated[
        str, typer.Option(help="Workloads to run, by name, separated by commas; else all.")
    ] = "",
    subs: Annotated[int | None, typer.Option(help="Subscriptions of each.", min=1)] = None,
    pubs: Annotated[int | None, typer.Option(help="Publications of each.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the workloads.", min=0)] = 1,
    million: Annotated[bool, typer.Option(help="Also 1,000,000 subscriptions.")] = True,
    spark: Annotated[bool, typer.Option(help="Also on Spark local[2].")] = True,
    peers: Annotated[str, typer.Option(help="Peers, by name, separated by commas; else all.")] = "",
    repetitions: Annotated[int, typer.Option(help="Rounds; medians count.", min=1)] = 3,
    peer_seconds: Annotated[
        float, typer.Option(help="CPU seconds that a peer's batch may take.", min=0.01)
    ] = 8.0,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("bench-core"),
    data: DataOption = None,
) -> None:
    """Match workloads with Geocast and with its peers, compare, and report.

    Exit status 1 where Geocast's answers differ from those of shapely's plain predicates.
    """
    from geocast.bench.core import Options
    from geocast.bench.data import DataFolder
    from geocast.bench.report import write_report
    from geocast.bench.suite import choose, choose_peers, count_steps, run_suite, sized

    chosen = choose_peers(_names(peers))
    options = Options(repetitions=repetitions, peers=chosen, peer_seconds=peer_seconds)
    names = choose(_names(only), million=million, spark=spark)
    recipes = {name: sized(name, subs, pubs, seed) for name in names}
    folder = DataFolder.find(data)
    with _announced(count_steps(names, options)) as announce:
        results = run_suite(recipes, folder, options, _spark_side, announce)
    files = write_report(results, out, f"geocast {' '.join(sys.argv[1:])}")
    _print_results(results)
    typer.echo(f"report: {files[0]}")
    if _differs_from_plain(results):
        raise typer.Exit(DISAGREES)


@app.command()
def subscribe(
    sizes: Annotated[
        str, typer.Option(help="Numbers of standing subscriptions, separated by commas.")
    ] = "10000,100000,1000000",
    repetitions: Annotated[int, typer.Option(help="Rounds; medians count.", min=1)] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the workload.", min=0)] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("bench-subscribe"),
    data: DataOption = None,
) -> None:
    """Change subscriptions, and measure how soon that counts in another process and what it costs.

    Exit status 1 where a new subscription did not match, or a cancelled one did.
    """
    from geocast.bench.data import DataFolder
    from geocast.bench.report.activation import activation_table, plot_activations
    from geocast.bench.subscribe import count_rounds, run_subscribe, write_activations

    chosen = [_size(text) for text in _names(sizes)]
    folder = DataFolder.find(data)
    with _announced(count_rounds(chosen, repetitions), "bench subscribe") as announce:
        found = run_subscribe(chosen, folder, repetitions, seed, announce)
    write_activations(found, out)
    picture = plot_activations(found, out / "activations")[0]
    _console().print(activation_table(found))
    typer.echo(f"report: {picture}")
    if not all(activation.correct for activation in found):
        raise typer.Exit(DISAGREES)


@app.command()
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
    with _announced(1 + len(METHODS), "bench partitions") as announce:
        announce(f"drawing {subs:,} subscriptions, {pubs:,} publications")
        made = make(recipe, folder)
        boxes = bounds_of(made.subscriptions)
        found = measure_partitions(boxes, bounds_of(made.publications), count, announce)
    out.mkdir(parents=True, exist_ok=True)
    picture = plot_partitions(found, boxes, out / "partitions")[0]
    _console().print(partition_table(found))
    typer.echo(f"picture: {picture}")


@app.command()
def adaptive(
    algorithm: Annotated[
        str, typer.Option(help="One that divides by place, such as sPIS[QT]{QT}.")
    ] = "sPIS[QT]{QT}",
    cells: Annotated[int, typer.Option(help="Cells, at most.", min=1)] = 100,
    subs: Annotated[int, typer.Option(help="Subscriptions.", min=1)] = 10_000,
    pubs: Annotated[int, typer.Option(help="Publications an hour, at most.", min=1)] = 10_000,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("bench-adaptive"),
    data: DataOption = None,
) -> None:
    """Match a day of taxis hour by hour, with partitions that follow the load and ones that stay.

    Needs the file sf_cabspotting_week of docs/benchmarks.md.
    """
    from geocast.bench.adaptive import HOURS, run_adaptive, taxi_hours
    from geocast.bench.data import DataFolder
    from geocast.bench.report.adaptive import adaptive_table, plot_adaptive
    from geocast.bench.workload import RECIPES, make
    from geocast.pipeline.variants import parse_name

    divider = parse_name(algorithm).divider(cells)
    if divider is None or divider.method is None:
        raise InputError(f"{algorithm} does not divide by place, so no partition can follow")
    folder = DataFolder.find(data)
    with _announced(1 + HOURS, "bench adaptive") as announce:
        announce(f"drawing {subs:,} subscriptions")
        made = make(replace(RECIPES["tracks"], subs=subs, pubs=1), folder)
        found = run_adaptive(made.subscriptions, taxi_hours(folder, pubs), divider, announce)
    out.mkdir(parents=True, exist_ok=True)
    picture = plot_adaptive(found, out / "adaptive")[0]
    _console().print(adaptive_table(found))
    typer.echo(f"picture: {picture}")


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"--sizes takes whole numbers above 0, not {text!r}")
    return int(text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def _announced(total: int, title: str = "bench core") -> Iterator[Callable[[str], None]]:
    """Show a bar with what runs now; each announcement begins a step."""
    begun = 0
    with open_steps() as steps, steps.step(title, total) as step:

        def announce(what: str) -> None:
            nonlocal begun
            step.update(begun, what)
            begun += 1

        yield announce


@contextmanager
def _spark_side() -> Iterator[SparkSide]:
    from geocast import spark
    from geocast.bench.transport import SparkSide
    from geocast.pipeline.session import spark_session

    with spark_session("local[2]") as session:
        yield SparkSide(session, spark.match)


def _print_results(results: Results) -> None:
    from geocast.bench.report import rate_table, target_table
    from geocast.bench.targets import verdicts

    console = _console()
    console.print(rate_table(results))
    console.print(target_table(verdicts(results)))


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_FILE_WIDTH)


def _differs_from_plain(results: Results) -> bool:
    from geocast.bench.peers.shapely_plain import ShapelyPlain

    return any(not a.full for a in results.agreements if a.engine == ShapelyPlain.name)


def _describe(geometry: Any) -> str:
    import shapely

    shapes = shapely.from_wkb(geometry.to_numpy())
    vertices = shapely.get_num_coordinates(shapes)
    return (
        f"{len(geometry):,} rows, {len(geometry.unique()):,} distinct geometries, "
        f"vertices mean {vertices.mean():.0f} max {vertices.max()}"
    )
