"""Real geometries to compare on: those that ship, and those of a data folder if there is one.

The folder is that of the environment variable GEOCAST_DATA, else `../shared/data` beside the
repository. Without one, every comparison runs on the data that ship; with one, whole workloads do
so only where the long comparisons are asked for (`--full`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import geocast.model
from geocast.bench.data import DataFolder
from geocast.bench.workload import RECIPES, make
from tests.oracle.spatial import Geometries

__all__ = ["FOLDER", "SOURCES", "Sides", "drawn", "shipped", "sides_of"]

Sides = tuple[Geometries, Geometries, list[str]]
"""Publications, areas, and the predicate of every area."""

_SHIPPED = Path(geocast.model.__file__).parents[1] / "data"
_NINE = ("equals", "touches", "crosses", "within", "overlaps", "contains", "intersects")
_PREDICATES = (*_NINE, "covers", "coveredby")


def _folder() -> DataFolder | None:
    given = os.environ.get("GEOCAST_DATA")
    if given:
        return DataFolder.find(Path(given))
    beside = Path(__file__).parents[3] / "shared" / "data"
    return DataFolder(beside) if beside.is_dir() else None


FOLDER = _folder()
SOURCES = ("folder", pytest.param("shipped", marks=pytest.mark.full)) if FOLDER else ("shipped",)
"""Where whole workloads come from; the data that ship stand in for the folder, or beside it."""


def drawn(recipe: str, subs: int, pubs: int) -> Sides:
    """A workload of the benchmark, drawn from the data folder."""
    assert FOLDER is not None
    workload = make(replace(RECIPES[recipe], subs=subs, pubs=pubs), FOLDER)
    return (
        _decoded(workload.publications),
        _decoded(workload.subscriptions),
        workload.subscriptions["predicate"].to_pylist(),
    )


@cache
def shipped(name: str) -> Geometries:
    return _decoded(pq.read_table(_SHIPPED / f"{name}.parquet", columns=["geometry"]))


def _decoded(table: pa.Table) -> Geometries:
    return np.asarray(shapely.from_wkb(table["geometry"].to_numpy()))


def sides_of(kind: str, subs: int, pubs: int) -> Sides:
    """A workload like the benchmark's, from the data that ship; kind as in `_KINDS`."""
    rng = np.random.default_rng(17)
    layers = [_KINDS[kind](rng, shipped(name)) for name in ("us_counties", "us_states")]
    layers.append(_KINDS[kind](rng, shipped("countries")))
    areas = _mixed(rng, subs, layers, (0.6, 0.2, 0.2))
    points = shipped("earthquakes")
    publications = _mixed(rng, pubs, [points, *layers], (0.4, 0.4, 0.1, 0.1))
    if kind == "unique":
        areas, publications = _stretched(rng, areas), _stretched(rng, publications)
    return publications, areas, rng.choice(_PREDICATES, subs).tolist()


def _mixed(
    rng: np.random.Generator, n: int, layers: list[Geometries], shares: tuple[float, ...]
) -> Geometries:
    layer = rng.choice(len(layers), n, p=shares)
    return np.array([layers[k][rng.integers(len(layers[k]))] for k in layer], dtype=object)


def _as_they_are(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    return geometries


def _with_more_vertices(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    return np.asarray(shapely.segmentize(geometries, 0.05))


def _outlines(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    return np.concatenate([geometries[::2], np.asarray(shapely.boundary(geometries[1::2]))])


def _stretched(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    """Shrink every geometry but points a little, so that none repeats and none leaves the map."""
    xy, of = shapely.get_coordinates(geometries, return_index=True)
    centre = shapely.get_coordinates(shapely.centroid(geometries))[of]
    scale = rng.uniform(0.95, 1.0, (len(geometries), 2))[of]
    extended = (shapely.get_dimensions(geometries) > 0)[of, None]
    moved = np.where(extended, (xy - centre) * scale + centre, xy)
    stretched = np.asarray(shapely.set_coordinates(geometries.copy(), moved))
    return np.where(shapely.is_valid(stretched), stretched, geometries)


_KINDS = {
    "thesis": _as_they_are,
    "unique": _as_they_are,
    "densified": _with_more_vertices,
    "outlines": _outlines,
}
