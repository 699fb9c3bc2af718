"""The whole world: earthquakes and the discs they shook against countries, states, counties."""

from __future__ import annotations

import numpy as np
import shapely

from geocast.bench.data import DataFolder
from geocast.bench.workload.mixture import mix, some
from geocast.bench.workload.recipe import Geometries, Recipe, Workload, workload_of

__all__ = ["FILES", "draw_workload"]

_QUAKES = "earthquakes_1965_2016"
_LAYERS = {
    "world_countries_10m": 0.3,
    "world_countries_50m": 0.2,
    "us_states_10m": 0.1,
    "us_counties_10m": 0.4,
}
FILES = (_QUAKES, *_LAYERS)

_INSIDE = (170.0, 80.0)
"""Discs stay within these longitudes and latitudes, so that none reaches over the map's edge."""


def draw_workload(recipe: Recipe, folder: DataFolder, rng: np.random.Generator) -> Workload:
    """Draw epicentres and shaken discs against countries at two scales, states and counties."""
    xy = folder.positions(_QUAKES)
    far_inside = shapely.points(xy[(np.abs(xy) < _INSIDE).all(axis=1)])
    epicentres = shapely.points(xy)
    layers = {name: folder.geometries(name) for name in _LAYERS}

    def discs(count: int) -> Geometries:
        radii = rng.uniform(0.2, 5.0, count)
        return np.asarray(shapely.buffer(some(rng, far_inside, count), radii, quad_segs=8))

    def points(count: int) -> Geometries:
        return some(rng, epicentres, count)

    areas = [
        (share, lambda count, layer=layers[name]: some(rng, layer, count))
        for name, share in _LAYERS.items()
    ]
    subs = mix(rng, recipe.subs, areas)
    pubs = mix(rng, recipe.pubs, [(0.7, points), (0.3, discs)])
    return workload_of(rng, recipe, subs, pubs)
