"""Very many small polygons: census areas and postcode sectors moved about and stretched.

Each is moved to where an accident happened, none repeats, and all are scaled by one common
factor, found on a sample, so that an event matches as many of them as it matches of the
10,000 subscriptions of the recipe `points-unique`. What is left to differ is their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload import postcodes
from geocast.bench.workload.recipe import (
    Geometries,
    Recipe,
    Workload,
    choose_predicates,
    publication_columns,
    subscription_columns,
)

__all__ = ["FILES", "draw_workload", "matches_per_event"]

_SHAPES = {
    "eng_oa_ons2011_part": 0.7,
    "ew_lsoa_ons2011": 0.25,
    postcodes.LAYERS["sectors"]: 0.05,
}
FILES = tuple(dict.fromkeys((*postcodes.FILES, *_SHAPES)))

_REFERENCE_SUBSCRIPTIONS = 10_000
_SAMPLE_POLYGONS = 50_000
_SAMPLE_EVENTS = 4_000
_ROUNDS = 4
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which shape goes where, and how it is stretched, before the common factor."""

    shapes: Geometries
    centres: NDArray[np.float64]
    pick: NDArray[np.int64]
    places: NDArray[np.float64]
    stretch: NDArray[np.float64]

    def polygons(self, rows: slice, factor: float) -> Geometries:
        """Return the polygons of these rows."""
        pick = self.pick[rows]
        placed = self.shapes[pick].copy()
        xy, of = shapely.get_coordinates(placed, return_index=True)
        scale = self.stretch[rows] * factor
        xy = (xy - self.centres[pick][of]) * scale[of] + self.places[rows][of]
        placed = np.asarray(shapely.set_coordinates(placed, xy))
        broken = ~shapely.is_valid(placed)
        placed[broken] = shapely.convex_hull(placed[broken])
        return placed


def draw_workload(recipe: Recipe, folder: DataFolder, rng: np.random.Generator) -> Workload:
    """Draw small polygons as subscriptions and accident positions as publications."""
    xy = folder.positions(postcodes.ACCIDENTS)
    plan = _plan(recipe.subs, folder, xy, rng)
    pubs = shapely.points(xy[rng.integers(0, len(xy), recipe.pubs)])
    factor = _common_factor(plan, folder, shapely.points(xy), recipe)
    predicates = choose_predicates(rng, recipe, recipe.subs)
    subscriptions = subscription_columns(predicates, pa.chunked_array(_wkb(plan, factor)))
    publications = publication_columns(pa.array(shapely.to_wkb(pubs), pa.binary()))
    return Workload(pa.table(subscriptions), pa.table(publications))


def matches_per_event(areas: Geometries, events: Geometries) -> float:
    """Return how many of the areas an event lies in, on average."""
    shapely.prepare(areas)
    event, area = shapely.STRtree(areas).query(events)
    order = np.argsort(area, kind="stable")
    inside = shapely.contains(areas[area[order]], events[event[order]])
    return float(inside.sum() / len(events))


def _plan(
    count: int, folder: DataFolder, xy: NDArray[np.float64], rng: np.random.Generator
) -> _Plan:
    layers = {name: folder.geometries(name) for name in _SHAPES}
    starts = np.cumsum([0, *(len(layer) for layer in layers.values())])[:-1]
    sizes = np.array([len(layer) for layer in layers.values()])
    layer = rng.choice(len(sizes), count, p=list(_SHAPES.values()))
    shapes = np.concatenate(list(layers.values()))
    return _Plan(
        shapes,
        shapely.get_coordinates(shapely.centroid(shapes)),
        starts[layer] + rng.integers(0, sizes[layer]),
        xy[rng.integers(0, len(xy), count)] + rng.normal(0, 0.005, (count, 2)),
        rng.uniform(0.8, 1.25, (count, 2)),
    )


def _common_factor(plan: _Plan, folder: DataFolder, accidents: Geometries, recipe: Recipe) -> float:
    """Find the factor that gives the reference's matches per event: they grow as its square."""
    rng = np.random.default_rng(recipe.seed)
    events = accidents[rng.integers(0, len(accidents), _SAMPLE_EVENTS)]
    reference = postcodes.unique_subscriptions(_REFERENCE_SUBSCRIPTIONS, folder, rng)
    wanted = matches_per_event(reference, events)
    sample = min(recipe.subs, _SAMPLE_POLYGONS)
    factor = 1.0
    for _ in range(_ROUNDS):
        found = matches_per_event(plan.polygons(slice(0, sample), factor), events)
        factor *= float(np.sqrt(wanted / max(found * recipe.subs / sample, 1e-6)))
    return factor


def _wkb(plan: _Plan, factor: float) -> Iterator[pa.Array]:
    for start in range(0, len(plan.pick), _CHUNK):
        polygons = plan.polygons(slice(start, start + _CHUNK), factor)
        yield pa.array(shapely.to_wkb(polygons), pa.binary())
