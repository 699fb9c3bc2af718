"""`geocast bench`: workloads, and Geocast beside its peers."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geocast.cli.bench_algorithms import adaptive, auto, partitions
from geocast.cli.bench_kafka import kafka
from geocast.cli.bench_service import chaos, live
from geocast.cli.bench_shared import (
    DISAGREES,
    DataOption,
    announced,
    names_in,
    table_console,
)
from geocast.cli.bench_thesis import thesis
from geocast.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from geocast.bench.results import Results

__all__ = ["app"]

app = typer.Typer(help="Measure Geocast, on workloads drawn from real data.", no_args_is_help=True)
app.command()(live)
app.command()(chaos)
app.command()(kafka)
app.command()(thesis)
app.command()(partitions)
app.command()(adaptive)
app.command()(auto)


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

    chosen = choose_peers(names_in(peers))
    options = Options(repetitions=repetitions, peers=chosen, peer_seconds=peer_seconds)
    names = choose(names_in(only), million=million, spark=spark)
    rounds = repetitions + 1  # one does not count
    recipes = {name: sized(name, subs, pubs, seed, rounds=rounds) for name in names}
    folder = DataFolder.find(data)
    with announced(count_steps(names, options), "bench core") as announce:
        results = run_suite(recipes, folder, options, _spark_session, announce)
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

    chosen = [_size(text) for text in names_in(sizes)]
    folder = DataFolder.find(data)
    with announced(count_rounds(chosen, repetitions), "bench subscribe") as announce:
        found = run_subscribe(chosen, folder, repetitions, seed, announce)
    write_activations(found, out)
    picture = plot_activations(found, out / "activations")[0]
    table_console().print(activation_table(found))
    typer.echo(f"report: {picture}")
    if not all(activation.correct for activation in found):
        raise typer.Exit(DISAGREES)


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"--sizes takes whole numbers above 0, not {text!r}")
    return int(text)


def _spark_session() -> AbstractContextManager[SparkSession]:
    from geocast.pipeline.session import spark_session

    return spark_session("local[2]")


def _print_results(results: Results) -> None:
    from geocast.bench.report import rate_table, target_table
    from geocast.bench.targets import verdicts

    console = table_console()
    console.print(rate_table(results))
    console.print(target_table(verdicts(results)))


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
