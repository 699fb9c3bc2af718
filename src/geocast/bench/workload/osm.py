"""OpenStreetMap: polygons of Liechtenstein and buildings of Florence, with their surroundings."""

from __future__ import annotations

import numpy as np
import shapely

from geocast.bench.data import DataFolder
from geocast.bench.workload.mixture import mix, some
from geocast.bench.workload.recipe import Geometries, Recipe, Workload, workload_of

__all__ = ["FILES", "draw_workload"]

FILES = ("osm_liechtenstein_polygons", "osm_firenze_buildings")

_NEAREST, _FARTHEST = 0.001, 0.004


def draw_workload(recipe: Recipe, folder: DataFolder, rng: np.random.Generator) -> Workload:
    """Draw mapped areas, their outlines, corners and inner points against such and surroundings."""
    everything = np.concatenate([folder.geometries(name) for name in FILES])

    def areas(count: int) -> Geometries:
        return some(rng, everything, count)

    def outlines(count: int) -> Geometries:
        return np.asarray(shapely.boundary(areas(count)))

    def surroundings(count: int) -> Geometries:
        radii = rng.uniform(_NEAREST, _FARTHEST, count)
        return np.asarray(shapely.buffer(areas(count), radii, quad_segs=4))

    def inner_points(count: int) -> Geometries:
        return np.asarray(shapely.point_on_surface(areas(count)))

    def corners(count: int) -> Geometries:
        coordinates, of = shapely.get_coordinates(areas(count), return_index=True)
        return np.asarray(shapely.multipoints(shapely.points(coordinates), indices=of))

    subs = mix(rng, recipe.subs, [(0.4, areas), (0.35, surroundings), (0.25, outlines)])
    pubs = mix(
        rng,
        recipe.pubs,
        [(0.4, areas), (0.2, outlines), (0.3, inner_points), (0.1, corners)],
    )
    return workload_of(rng, recipe, subs, pubs)
