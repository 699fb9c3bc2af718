"""Taxis of San Francisco: trips as lines against stops, surroundings and other trips.

A trip is a run of positions of one taxi within ten minutes, without a long pause, without a
jump, and without a change between free and occupied. Consecutive trips make multilines, their
ends multipoints, and discs about the ends areas and multi-areas.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload.mixture import group, mix, some
from geocast.bench.workload.recipe import Geometries, Recipe, Workload, workload_of

__all__ = ["FILES", "draw_workload", "trips"]

FILES = ("sf_cabspotting_week",)

_BAY = (-122.6, 37.3, -121.9, 38.1)
_PAUSE_SECONDS = 300
_LONGEST_SECONDS = 600
_JUMP_DEGREES = 0.02
_TYPICAL_RADIUS = 0.001


def draw_workload(recipe: Recipe, folder: DataFolder, rng: np.random.Generator) -> Workload:
    """Draw trips, multilines, stops and positions against discs, trips and stops."""
    lines = trips(folder.table(FILES[0]))
    ends = shapely.get_point(lines, -1)

    def runs(count: int, length: int) -> NDArray[np.int64]:
        starts = rng.integers(0, max(1, len(lines) - length), count)
        return np.asarray(np.minimum(starts[:, None] + np.arange(length), len(lines) - 1))

    def discs(count: int) -> Geometries:
        radii = _TYPICAL_RADIUS * rng.lognormal(0, 0.7, count)
        return np.asarray(shapely.buffer(some(rng, ends, count), radii, quad_segs=8))

    def disc_groups(count: int) -> Geometries:
        around = shapely.buffer(ends, _TYPICAL_RADIUS, quad_segs=4)
        return group(shapely.union_all, around, runs(count, 3))

    def stops(count: int) -> Geometries:
        return group(shapely.multipoints, ends, runs(count, 4))

    def pairs_of_trips(count: int) -> Geometries:
        return group(shapely.multilinestrings, lines, runs(count, 2))

    def single(count: int) -> Geometries:
        return some(rng, lines, count)

    def positions(count: int) -> Geometries:
        return np.asarray(shapely.get_point(single(count), 0))

    subs = mix(rng, recipe.subs, [(0.5, discs), (0.3, single), (0.1, stops), (0.1, disc_groups)])
    pubs = mix(
        rng,
        recipe.pubs,
        [(0.5, single), (0.2, pairs_of_trips), (0.1, stops), (0.2, positions)],
    )
    return workload_of(rng, recipe, subs, pubs)


def trips(table: pa.Table) -> Geometries:
    """Return the trips of a table of positions sorted by taxi and time, as LineStrings."""
    xy = np.column_stack([table["lon_e5"].to_numpy(), table["lat_e5"].to_numpy()]) / 1e5
    west, south, east, north = _BAY
    inside = ((xy >= (west, south)) & (xy <= (east, north))).all(axis=1)
    xy = xy[inside]
    trip = _trip_numbers(table.filter(pa.array(inside)), xy)
    moved = np.r_[True, (np.diff(trip) != 0) | (np.diff(xy, axis=0) != 0).any(axis=1)]
    xy, trip = xy[moved], trip[moved]
    long_enough = np.bincount(trip)[trip] >= 2
    _, numbers = np.unique(trip[long_enough], return_inverse=True)
    return np.asarray(shapely.linestrings(xy[long_enough], indices=numbers))


def _trip_numbers(table: pa.Table, xy: NDArray[np.float64]) -> NDArray[np.int64]:
    def changes(name: str) -> NDArray[np.bool_]:
        column = table[name].to_numpy()
        return np.asarray(column[1:] != column[:-1])

    time = table["t"].to_numpy()
    paused = np.diff(time) > _PAUSE_SECONDS
    too_long = np.diff(time // _LONGEST_SECONDS) != 0
    jumped = (np.abs(np.diff(xy, axis=0)) > _JUMP_DEGREES).any(axis=1)
    new = changes("taxi_id") | changes("occupied") | paused | too_long | jumped
    return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)
