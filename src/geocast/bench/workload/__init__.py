"""Workloads: subscriptions and publications drawn from real data, the same for the same seed.

    workload = make(RECIPES["thesis"], DataFolder.find(None))
    write(workload, Path("out"))

A recipe names its maker; a new kind of workload is one module with a maker, one line in
`MAKERS` and one in `RECIPES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from geocast.bench.data import DataFolder
from geocast.bench.workload import osm, outlines, postcodes, small, tracks, world
from geocast.bench.workload.recipe import PREDICATES, RECIPES, Recipe, Workload
from geocast.errors import InputError, UnknownNameError

__all__ = [
    "MAKERS",
    "PREDICATES",
    "RECIPES",
    "Maker",
    "Recipe",
    "Workload",
    "make",
    "needs",
    "write",
]


@dataclass(frozen=True, slots=True)
class Maker:
    """How a kind of workload is drawn: the data files it needs and the function that draws."""

    files: tuple[str, ...]
    draw: Callable[[Recipe, DataFolder, np.random.Generator], Workload]


MAKERS: dict[str, Maker] = {
    "postcodes": Maker(postcodes.FILES, postcodes.draw_workload),
    "tracks": Maker(tracks.FILES, tracks.draw_workload),
    "outlines": Maker(outlines.FILES, outlines.draw_workload),
    "osm": Maker(osm.FILES, osm.draw_workload),
    "world": Maker(world.FILES, world.draw_workload),
    "small": Maker(small.FILES, small.draw_workload),
}


def make(recipe: Recipe, folder: DataFolder) -> Workload:
    """Draw the workload of a recipe; the same recipe and data give the same bytes."""
    _check(recipe)
    maker = MAKERS[recipe.maker]
    folder.require(maker.files)
    return maker.draw(recipe, folder, np.random.default_rng(recipe.seed))


def needs(recipes: Iterable[Recipe]) -> list[str]:
    """Return the names of all data files that these recipes need."""
    return list(dict.fromkeys(name for recipe in recipes for name in MAKERS[recipe.maker].files))


def write(workload: Workload, directory: Path) -> None:
    """Write subscriptions.parquet and publications.parquet into the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for side in ("subscriptions", "publications"):
        table = getattr(workload, side)
        pq.write_table(table, directory / f"{side}.parquet", compression="zstd")


def _check(recipe: Recipe) -> None:
    if recipe.maker not in MAKERS:
        raise UnknownNameError("maker of workloads", recipe.maker, MAKERS)
    if recipe.predicate not in ("mixed", *PREDICATES):
        raise UnknownNameError("predicate", recipe.predicate, ("mixed", *PREDICATES))
    if recipe.subs < 1 or recipe.pubs < 1:
        raise InputError("a workload has at least one subscription and one publication")
    if not 0 <= recipe.points <= 1:
        raise InputError(f"the share of points lies between 0 and 1, not {recipe.points}")
    if recipe.densify < 0:
        raise InputError(f"the longest edge is 0 (as it is) or positive, not {recipe.densify}")
    plain = Recipe()
    fixed = [name for name in _POSTCODES_ONLY if getattr(recipe, name) != getattr(plain, name)]
    if recipe.maker != "postcodes" and fixed:
        raise InputError(f"{', '.join(fixed)}: only workloads drawn from postcodes have this")


_POSTCODES_ONLY = ("points", "densify", "unique", "attributes")
