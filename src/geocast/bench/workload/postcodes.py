"""The recipe of the thesis's experiments: accident positions choose the postcode polygons.

So both sides keep the real spatial distribution: where much happens, there are many
publications and many subscriptions, and polygons recur.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload.recipe import (
    Geometries,
    Recipe,
    Workload,
    choose_predicates,
    publication_columns,
    subscription_columns,
)

__all__ = ["ACCIDENTS", "FILES", "LAYERS", "areas_at", "draw_workload", "unique_subscriptions"]

ACCIDENTS = "gb_accidents_stats19_2015"
LAYERS = {
    "areas": "gb_postcode_areas_codepoint",
    "districts": "gb_postcode_districts_codepoint",
    "sectors": "gb_postcode_sectors_codepoint",
}
FILES = (ACCIDENTS, *LAYERS.values())

_ATTRIBUTES = (
    "accident_severity",
    "number_of_vehicles",
    "number_of_casualties",
    "road_type",
    "speed_limit",
    "day_of_week",
)
_Layers = Mapping[str, Geometries]


def draw_workload(recipe: Recipe, folder: DataFolder, rng: np.random.Generator) -> Workload:
    """Draw polygons (and points) of both sides at accident positions."""
    accidents = folder.table(ACCIDENTS)
    xy = folder.positions(ACCIDENTS)
    layers = _layers(folder, recipe.densify)
    subs, _ = _draw(rng, _subscription_sizes(recipe), layers, xy)
    pubs, pick = _draw(rng, _publication_sizes(recipe), layers, xy)
    if recipe.unique:
        subs, pubs = _vary(rng, subs), _vary(rng, pubs)
    predicates = choose_predicates(rng, recipe, len(subs))
    subscriptions = subscription_columns(predicates, pa.array(shapely.to_wkb(subs), pa.binary()))
    publications = publication_columns(pa.array(shapely.to_wkb(pubs), pa.binary()))
    if recipe.attributes:
        publications |= _attributes(accidents, pick)
        subscriptions["filter"] = [_filter(rng) for _ in range(len(subs))]
    return Workload(pa.table(subscriptions), pa.table(publications))


def unique_subscriptions(count: int, folder: DataFolder, rng: np.random.Generator) -> Geometries:
    """Draw only the subscriptions' polygons, none of which repeats."""
    sizes = _subscription_sizes(Recipe(subs=count))
    subs, _ = _draw(rng, sizes, _layers(folder, 0.0), folder.positions(ACCIDENTS))
    return _vary(rng, subs)


def areas_at(layer: Geometries, points: Geometries) -> Geometries:
    """Return for each point the area of the layer that it lies in, or else the nearest."""
    tree = shapely.STRtree(layer)
    hit = np.full(len(points), -1)
    point, area = tree.query(points, predicate="intersects")
    hit[point] = area
    hit[hit < 0] = tree.nearest(points[hit < 0])
    return np.asarray(layer[hit])


def _layers(folder: DataFolder, densify: float) -> _Layers:
    layers = {name: folder.geometries(file) for name, file in LAYERS.items()}
    if densify:
        layers = {name: shapely.segmentize(g, densify) for name, g in layers.items()}
    return layers


def _subscription_sizes(recipe: Recipe) -> dict[str, float]:
    return {
        "districts": recipe.subs * 0.5,
        "sectors": recipe.subs * 0.3,
        "areas": recipe.subs * 0.2,
    }


def _publication_sizes(recipe: Recipe) -> dict[str, float]:
    rest = 1 - recipe.points
    return {
        "points": recipe.pubs * recipe.points,
        "districts": recipe.pubs * rest * 0.5,
        "sectors": recipe.pubs * rest / 3,
        "areas": recipe.pubs * rest / 6,
    }


def _draw(
    rng: np.random.Generator, sizes: dict[str, float], layers: _Layers, xy: NDArray[np.float64]
) -> tuple[Geometries, NDArray[np.int64]]:
    """Draw geometries in these expected sizes; return them and the accident of each."""
    weights = np.array(list(sizes.values())) / sum(sizes.values())
    layer = rng.choice(len(sizes), size=round(sum(sizes.values())), p=weights)
    pick = rng.integers(0, len(xy), layer.size)
    drawn = np.empty(layer.size, dtype=object)
    for code, name in enumerate(sizes):
        rows = np.flatnonzero(layer == code)
        points = shapely.points(xy[pick[rows]])
        drawn[rows] = points if name == "points" else areas_at(layers[name], points)
    return drawn, pick


def _vary(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    """Shift and stretch each geometry that is not a point, so that it is new."""
    varied = geometries.copy()
    for row in np.flatnonzero(shapely.get_type_id(geometries) != shapely.GeometryType.POINT):
        xy = shapely.get_coordinates(geometries[row])
        centre = shapely.get_coordinates(shapely.centroid(geometries[row]))[0]
        scale, shift = 1 + rng.normal(0, 0.02, 2), rng.normal(0, 0.002, 2)
        moved = (xy - centre) * scale + centre + shift
        varied[row] = shapely.set_coordinates(geometries[row : row + 1].copy(), moved)[0]
    return varied


def _attributes(accidents: pa.Table, pick: NDArray[np.int64]) -> dict[str, Any]:
    columns = [name for name in _ATTRIBUTES if name in accidents.column_names]
    drawn = accidents.select(columns).take(pa.array(pick))
    return {name: drawn[name] for name in columns}


def _filter(rng: np.random.Generator) -> str:
    if rng.random() < 0.5:
        speed, vehicles = rng.choice([30, 40, 50, 60]), rng.integers(1, 4)
        return f"speed_limit >= {speed} AND number_of_vehicles <= {vehicles}"
    return f"number_of_casualties >= {rng.integers(1, 3)}"
