"""Postcode areas of Great Britain as areas, as outlines, and in groups: all six types."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload import postcodes
from geocast.bench.workload.mixture import group, mix
from geocast.bench.workload.recipe import Geometries, Recipe, Workload, workload_of

__all__ = ["FILES", "draw_workload"]

FILES = (postcodes.ACCIDENTS, postcodes.LAYERS["districts"], postcodes.LAYERS["sectors"])

_CELL_DEGREES = 0.1


def draw_workload(recipe: Recipe, folder: DataFolder, rng: np.random.Generator) -> Workload:
    """Draw areas, outlines, points and groups of them at accident positions on both sides."""
    xy = folder.positions(postcodes.ACCIDENTS)
    accidents, nearby = shapely.points(xy), _local_order(xy)
    districts = folder.geometries(postcodes.LAYERS["districts"])
    sectors = folder.geometries(postcodes.LAYERS["sectors"])

    def points(count: int) -> Geometries:
        return np.asarray(accidents[rng.integers(0, len(accidents), count)])

    def areas(count: int) -> Geometries:
        half = count // 2
        chosen = [(districts, count - half), (sectors, half)]
        return np.concatenate([postcodes.areas_at(layer, points(n)) for layer, n in chosen])

    def outlines(count: int) -> Geometries:
        return np.asarray(shapely.boundary(areas(count)))

    def corners(count: int) -> Geometries:
        coordinates = [shapely.get_coordinates(outline)[0] for outline in outlines(count)]
        return np.asarray(shapely.points(np.array(coordinates)))

    def neighbours(count: int, stride: int, width: int) -> NDArray[np.int64]:
        starts = rng.integers(0, len(nearby), count)
        return np.asarray(nearby[(starts[:, None] + stride * np.arange(width)) % len(nearby)])

    def point_groups(count: int) -> Geometries:
        return group(shapely.multipoints, accidents, neighbours(count, 5, 10))

    def area_groups(count: int) -> Geometries:
        rows = neighbours(count, 50, 3)
        under = postcodes.areas_at(sectors, accidents[rows.ravel()])
        return group(shapely.union_all, under, np.arange(rows.size).reshape(rows.shape))

    subs = mix(
        rng,
        recipe.subs,
        [(0.4, areas), (0.4, outlines), (0.1, area_groups), (0.1, point_groups)],
    )
    pubs = mix(
        rng,
        recipe.pubs,
        [(0.4, outlines), (0.2, areas), (0.2, points), (0.1, corners), (0.1, point_groups)],
    )
    return workload_of(rng, recipe, subs, pubs)


def _local_order(xy: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order positions by cells of a grid, column by column, so that neighbours are near."""
    column, row = np.floor(xy / _CELL_DEGREES).T
    return np.lexsort((xy[:, 0], row, column))
