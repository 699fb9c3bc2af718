"""What every algorithm and every baseline has to answer as the oracle does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import shapely

from geocast.bench.data import DataFolder
from geocast.bench.workload import RECIPES, make
from tests import oracle
from tests.bench.fakes import write_fake_data
from tests.lattice import lattice_geometries
from tests.match.real_data import FOLDER, Sides, drawn, sides_of
from tests.oracle.bulk import mixed_pairs
from tests.oracle.spatial import Geometries, Pairs

__all__ = ["CASES", "REAL", "Case", "case", "workload"]

Case = tuple[Sides, Pairs]
"""Publications, areas and predicates, and the pairs that match."""

PREDICATES: Final = tuple(oracle.PREDICATES)
_SIDE: Final = 16


@cache
def workload(kind: str, subs: int, pubs: int) -> Case:
    """One of the workloads from data that ship, a tenth of it `disjoint`."""
    return _judged(sides_of(kind, subs, pubs))


@cache
def case(name: str) -> Case:
    """The case of that name, made once."""
    made = CASES.get(name) or REAL[name]
    return made()


def _judged(sides: Sides) -> Case:
    publications, areas, predicates = sides
    predicates[::10] = ["disjoint"] * len(predicates[::10])
    return (publications, areas, predicates), mixed_pairs(publications, areas, predicates)


def _mixed(seed: int, publications: Geometries, areas: Geometries) -> Case:
    predicates = np.random.default_rng(seed).choice(PREDICATES, len(areas)).tolist()
    return (publications, areas, predicates), mixed_pairs(publications, areas, predicates)


def _lattice() -> Case:
    """All types on a coarse grid, where edges lie upon each other."""
    rng = np.random.default_rng(5)
    publications = lattice_geometries(rng, 150, 1.0, span=12)
    return _mixed(6, publications, lattice_geometries(rng, 150, 1.0, span=12))


def _tracks() -> Case:
    """Trips, stops and groups of discs, drawn as the benchmark draws them."""
    with tempfile.TemporaryDirectory(prefix="geocast-tracks-") as room:
        write_fake_data(Path(room) / "data")
        made = make(replace(RECIPES["tracks"], subs=150, pubs=100), DataFolder(Path(room) / "data"))
    areas, publications = (
        np.asarray(shapely.from_wkb(table["geometry"].to_numpy()))
        for table in (made.subscriptions, made.publications)
    )
    return _mixed(7, publications, areas)


def _outside() -> Case:
    """Publications beyond all subscriptions, around them, and within the sample's extent."""
    areas = shapely.box([0, 1, 5], [0, 1, 5], [2, 3, 7], [2, 3, 7])
    far = shapely.points([100.0, -170.0], [50.0, -80.0])
    away = shapely.linestrings([[(-100, 20), (-90, 70)], [(-20, 1), (30, 1)]])
    around = shapely.box(-180, -90, 180, 90)
    publications = np.array([*far, *away, around, shapely.Point(1.5, 1.5)], dtype=object)
    sides = publications, areas, ["intersects", "disjoint", "contains"]
    return sides, mixed_pairs(*sides)


def _borders() -> Case:
    """Everything begins and ends where halves, quarters and eighths of the extent do."""
    marks = np.arange(0, _SIDE + 1, 2.0)
    x, y = (axis.ravel() for axis in np.meshgrid(marks[:-1], marks[:-1]))
    squares = shapely.box(x, y, x + 2, y + 2)
    lines = [shapely.LineString([(m, 0), (m, _SIDE)]) for m in marks]
    lines += [shapely.LineString([(0, m), (_SIDE, m)]) for m in marks]
    points = shapely.points(x, y)
    quarters = shapely.box([0, 8, 0, 8], [0, 0, 8, 8], [8, 16, 8, 16], [8, 8, 16, 16])
    pair = shapely.MultiPoint([(8, 8), (4, 12)])
    areas = np.array([*squares, *quarters, *lines, *points[::3], pair], dtype=object)
    return _mixed(8, np.array([*points, *lines, *quarters, *squares[::5], pair]), areas)


def _clusters() -> Case:
    """Two far heaps of areas, so that most cells between them are empty."""
    rng = np.random.default_rng(9)
    west, north = rng.integers(0, 8, (2, 60)) / 2 + rng.choice([0.0, 60.0], (1, 60))
    areas = shapely.box(west, north, west + 1, north + 0.5)
    x, y = rng.integers(-4, 140, (2, 120)) / 2
    publications = np.where(
        rng.random(120) < 0.5, shapely.points(x, y), shapely.box(x, y, x + 9, y + 3)
    )
    return _mixed(10, publications, areas)


CASES: Final[Mapping[str, Callable[[], Case]]] = {
    "small": lambda: workload("thesis", 30, 100),
    "middle": lambda: workload("thesis", 400, 200),
    "large": lambda: workload("thesis", 2_000, 500),
    "unique": lambda: workload("unique", 400, 200),
    "outlines": lambda: workload("outlines", 400, 200),
    "lattice": _lattice,
    "tracks": _tracks,
    "outside": _outside,
    "borders": _borders,
    "clusters": _clusters,
}
"""From data that ship, and made up."""

REAL: Final[Mapping[str, Callable[[], Case]]] = (
    {
        "UK, small": lambda: _judged(drawn("thesis", 50, 100)),
        "UK, middle": lambda: _judged(drawn("thesis", 400, 200)),
        "UK, large": lambda: _judged(drawn("thesis", 2_000, 400)),
        "UK, unique": lambda: _judged(drawn("unique", 300, 100)),
        "UK, outlines": lambda: _judged(drawn("outlines", 400, 200)),
        "taxis": lambda: _judged(drawn("tracks", 400, 200)),
    }
    if FOLDER
    else {}
)
"""From the data folder, where there is one."""
