"""The benchmark of the matching core: which workloads there are, and how many steps they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pyspark.sql import SparkSession

from geocast.bench.core import Announce, Options, run_workload
from geocast.bench.data import DataFolder
from geocast.bench.peers import PEERS
from geocast.bench.results import Results
from geocast.bench.transport import run_transport
from geocast.bench.workload import RECIPES, Recipe, make, needs
from geocast.errors import UnknownNameError

__all__ = ["SPARK", "choose", "choose_peers", "count_steps", "run_suite", "sized"]

SPARK = {"spark-points": "points", "spark-unique": "unique"}
"""The workloads that run on Spark, and whose publications they have, ten times as many a round."""

_MILLION = "million"
_MILLION_PEERS = ("shapely", "shapely prepared")
"""Peers of the million: the others rebuild or scan what they have for every batch."""

OpenSpark = Callable[[], AbstractContextManager[SparkSession]]


def choose(only: Sequence[str], *, million: bool, spark: bool) -> list[str]:
    """Return the workloads to run: those named, or all but the ones that are switched off."""
    known = [*RECIPES, *SPARK]
    for name in only:
        if name not in known:
            raise UnknownNameError("workload", name, known)
    off = {_MILLION} if not million else set()
    off |= set(SPARK) if not spark else set()
    return [name for name in known if (name in only if only else name not in off)]


def choose_peers(names: Sequence[str]) -> tuple[str, ...]:
    """Return the peers of those names, or all where none is named."""
    for name in names:
        if name not in PEERS:
            raise UnknownNameError("peer", name, PEERS)
    return tuple(names) or tuple(PEERS)


def sized(name: str, subs: int | None, pubs: int | None, seed: int, *, rounds: int = 1) -> Recipe:
    """Return the recipe of a workload, in other sizes where they are given.

    The million takes a hundred times as many subscriptions as the others, and Spark ten times
    as many publications, whatever the size, for each of so many rounds.
    """
    recipe = RECIPES[SPARK.get(name, name)]
    subs = recipe.subs if subs is None else subs * (100 if name == _MILLION else 1)
    pubs = (recipe.pubs if pubs is None else pubs) * (10 * rounds if name in SPARK else 1)
    return replace(recipe, subs=subs, pubs=pubs, seed=seed)


def count_steps(names: Sequence[str], options: Options) -> int:
    """Return how many things a run announces."""
    return sum(_steps(name, options) for name in names)


def run_suite(
    recipes: dict[str, Recipe],
    folder: DataFolder,
    options: Options,
    open_spark: OpenSpark,
    announce: Announce,
) -> Results:
    """Make each workload, match it with every engine, and return all that was found.

    Missing data are told before anything is run.
    """
    folder.require(needs(recipes.values()))
    results = Results()
    for name, recipe in recipes.items():
        announce(f"{name}: drawing {recipe.subs:,} subscriptions, {recipe.pubs:,} publications")
        workload = make(recipe, folder)
        if name in SPARK:
            with open_spark() as session:
                run_transport(name, workload, session, options, results, announce)
        else:
            run_workload(name, workload, _options_of(name, options), results, announce)
    return results


def _options_of(name: str, options: Options) -> Options:
    if name != _MILLION:
        return options
    return replace(options, peers=[peer for peer in options.peers if peer in _MILLION_PEERS])


def _steps(name: str, options: Options) -> int:
    if name in SPARK:
        return 2 + 3 * (options.repetitions + 1)
    peers = len(_options_of(name, options).peers)
    return 3 + peers + options.repetitions * (1 + peers)
