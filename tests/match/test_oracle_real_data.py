"""Lines, buildings, tracks and countries against the oracle, all ten predicates."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import shapely

from tests.match.comparison import INDEX_NAMES, assert_all_predicates
from tests.match.real_data import FOLDER, drawn, shipped, sides_of
from tests.oracle import PREDICATES
from tests.oracle.bulk import relation_pairs
from tests.oracle.spatial import Geometries, Pairs

Scene = tuple[Geometries, Geometries, dict[str, Pairs]]
SHIPPED = ("outlines of counties", "countries", "ways between earthquakes")
DRAWN = ("osm", "outlines", "tracks", "world", "countries at 10m")
SCENES = SHIPPED + (DRAWN if FOLDER else ())


def _countries(countries: Geometries) -> tuple[Geometries, Geometries]:
    """Countries, their borders and points on them, against all countries."""
    rng = np.random.default_rng(5)
    some = countries[rng.permutation(len(countries))[:60]]
    xy = shapely.get_coordinates(countries)
    on_borders = shapely.points(xy[rng.integers(0, len(xy), 200)])
    return np.concatenate([some, shapely.boundary(some), on_borders]), countries


def _ways() -> tuple[Geometries, Geometries]:
    """Lines from earthquake to earthquake, against counties, states and such lines."""
    xy = shapely.get_coordinates(shipped("earthquakes"))
    lines = np.asarray(shapely.linestrings(xy[:4_000].reshape(-1, 8, 2)))
    places = np.concatenate([shipped("us_counties")[::10], shipped("us_states"), lines[::5]])
    return lines[:200], places


@cache
def scene(name: str) -> Scene:
    if name == "outlines of counties":
        publications, areas, _ = sides_of("outlines", 700, 300)
    elif name == "countries":
        publications, areas = _countries(shipped("countries"))
    elif name == "ways between earthquakes":
        publications, areas = _ways()
    elif name == "countries at 10m":
        assert FOLDER is not None
        publications, areas = _countries(FOLDER.geometries("world_countries_10m"))
    else:
        publications, areas, _ = drawn(name, 1_500, 600)
    return publications, areas, relation_pairs(publications, areas, list(PREDICATES))


@pytest.mark.parametrize("name", SCENES)
def test_all_predicates(name: str) -> None:
    assert_all_predicates(*scene(name), "cells")


@pytest.mark.parametrize("index", [name for name in INDEX_NAMES if name != "cells"])
def test_all_predicates_with_every_index(index: str) -> None:
    assert_all_predicates(*scene("outlines of counties"), index)
