"""What `geocast match` does: read, index, match on Spark, join the pieces, report."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pyspark.sql import SparkSession

from geocast import files
from geocast.cli.progress import Steps, open_steps
from geocast.cli.report import Report, print_report
from geocast.errors import InputError
from geocast.model import Reject
from geocast.pipeline import (
    Algorithm,
    Piece,
    Progress,
    PublicationFile,
    Split,
    check_master,
    check_name,
    choose,
    is_auto,
    make_algorithm,
    open_publications,
    read_subscriptions,
    run_job,
    spark_session,
)

__all__ = ["MatchOptions", "run_match"]


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """The arguments and options of the command, as typed."""

    subscriptions: str
    publications: str
    output: str
    algorithm: str
    cells: int
    merge: bool
    partitions: int | None
    master: str
    rejects: str | None
    pairs: bool


def run_match(options: MatchOptions) -> None:
    """Do it all; raises InputError where an option or an input cannot be used."""
    _check(options)
    start = time.monotonic()
    with open_steps() as steps, _workshop(options.output) as folder:
        algorithm, refused = _prepare(options, steps)
        publications = _open(options, algorithm, folder, steps)
        with _session(options.master, steps) as spark:
            splits = publications.split_for(spark, options.partitions)
            begin = time.monotonic()
            pieces = _match(spark, algorithm, splits, folder, steps)
            matching = time.monotonic() - begin
        _write(options, refused, pieces, steps)
        report = Report.of(refused, pieces, time.monotonic() - start, matching)
    print_report(report, options.output, options.rejects)


def _check(options: MatchOptions) -> None:
    """Find what can be found wrong before anything takes time."""
    check_name(options.algorithm)
    inputs = [options.subscriptions, options.publications]
    for path in inputs:
        files.format_of(path)
        files.input_size(path)
    outputs = [options.output] if options.rejects is None else [options.output, options.rejects]
    for path in outputs:
        files.check_output(path)
    _check_distinct(inputs, outputs)
    check_master(options.master)


def _check_distinct(inputs: list[str], outputs: list[str]) -> None:
    seen = {Path(path).resolve(): path for path in inputs}
    for output in outputs:
        place = Path(output).resolve()
        if place in seen:
            raise InputError(f"{output}: is to be written, but is also {_other(place, inputs)}")
        seen[place] = output


def _other(place: Path, inputs: list[str]) -> str:
    return "an input" if place in [Path(path).resolve() for path in inputs] else "the other output"


@contextmanager
def _workshop(output: str) -> Iterator[Path]:
    """Give a temporary folder beside the output: there is room for it, and workers see it."""
    beside = None if output == "-" else Path(output).absolute().parent
    with tempfile.TemporaryDirectory(prefix=".geocast-", dir=beside) as folder:
        yield Path(folder)


def _prepare(options: MatchOptions, steps: Steps) -> tuple[Algorithm, list[Reject]]:
    """Read and index the subscriptions; return the bad ones, too."""
    path = options.subscriptions
    with steps.step("reading subscriptions", files.input_size(path)) as step:
        subscriptions = read_subscriptions(path, step.update)
        step.update(files.input_size(path), f"{subscriptions.table.num_rows:,} subscriptions")
    name = options.algorithm
    if is_auto(name):
        with steps.step("choosing an algorithm") as step:
            choice = choose(subscriptions.table)
            step.update(1, choice.why)
            name = choice.name
    with steps.step("building the index"):
        algorithm = make_algorithm(
            name, subscriptions.table, cells=options.cells, merge=options.merge
        )
    return algorithm, subscriptions.all_rejects(algorithm.rejects)


def _open(
    options: MatchOptions, algorithm: Algorithm, folder: Path, steps: Steps
) -> PublicationFile:
    path = options.publications
    with steps.step("opening publications", files.input_size(path)) as step:
        return open_publications(path, algorithm.properties, folder, step.update)


@contextmanager
def _session(master: str, steps: Steps) -> Iterator[SparkSession]:
    with ExitStack() as stack:
        with steps.step("starting Spark"):
            spark = stack.enter_context(spark_session(master))
        yield spark


def _match(
    spark: SparkSession, algorithm: Algorithm, splits: list[Split], folder: Path, steps: Steps
) -> list[Piece]:
    with steps.step("matching", len(splits)) as step:

        def watch(progress: Progress) -> None:
            tasks = f"{progress.tasks_done}/{len(splits)} tasks"
            step.update(progress.tasks_done, f"{tasks}, {progress.publications:,} publications")

        return run_job(spark, algorithm, splits, folder, watch)


def _write(options: MatchOptions, refused: list[Reject], pieces: list[Piece], steps: Steps) -> None:
    with steps.step("writing matches"):
        tables = chain.from_iterable(piece.matches() for piece in pieces)
        files.write_matches(options.output, tables, pairs=options.pairs)
        if options.rejects is not None:
            bad = chain(refused, chain.from_iterable(piece.rejects() for piece in pieces))
            files.write_rejects(options.rejects, bad)
