from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from geocast.bench.data import DataFolder
from geocast.bench.workload import MAKERS, RECIPES, Recipe, Workload, make, needs, write
from geocast.bench.workload.postcodes import unique_subscriptions
from geocast.bench.workload.small import matches_per_event
from geocast.bench.workload.tracks import trips
from geocast.errors import InputError, UnknownNameError
from tests.bench.fakes import write_fake_data

SMALL = {name: replace(recipe, subs=300, pubs=200) for name, recipe in RECIPES.items()}


def digest(workload: Workload) -> str:
    whole = hashlib.sha256()
    for table in (workload.subscriptions, workload.publications):
        for name in table.column_names:
            whole.update(repr((name, table[name].to_pylist())).encode())
    return whole.hexdigest()[:16]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "bc6d7e15a1345207"),
        ({"unique": True}, "8a3c5739883179f8"),
        ({"densify": 0.3}, "f3d5faa71e6b4d02"),
        ({"points": 1.0, "predicate": "within", "seed": 7}, "2644c5a5f125dbb1"),
        ({"attributes": True, "unique": True, "seed": 3}, "9f486d5638d8f0c7"),
    ],
)
def test_published_results_can_be_repeated(
    data: DataFolder, options: dict[str, Any], expected: str
) -> None:
    assert digest(make(Recipe(subs=50, pubs=40, **options), data)) == expected


@pytest.mark.parametrize("name", SMALL)
def test_the_same_recipe_gives_the_same_bytes_and_another_seed_others(
    data: DataFolder, name: str
) -> None:
    first = digest(make(SMALL[name], data))
    assert digest(make(SMALL[name], data)) == first
    assert digest(make(replace(SMALL[name], seed=2), data)) != first


@pytest.mark.parametrize("name", SMALL)
def test_every_geometry_is_valid_and_sizes_are_as_asked(data: DataFolder, name: str) -> None:
    workload = make(SMALL[name], data)
    assert workload.subscriptions.num_rows == 300
    assert workload.publications.num_rows == 200
    for table in (workload.subscriptions, workload.publications):
        shapes = shapely.from_wkb(table["geometry"].to_numpy())
        assert shapely.is_valid(shapes).all()
        assert not shapely.is_empty(shapes).any()
        assert len(set(table["id"].to_pylist())) == table.num_rows


def test_unique_means_that_no_polygon_repeats(data: DataFolder) -> None:
    geometry = make(SMALL["unique"], data).subscriptions["geometry"]
    assert len(geometry.unique()) == len(geometry)
    recurring = make(SMALL["thesis"], data).subscriptions["geometry"]
    assert len(recurring.unique()) < len(recurring)


def test_the_mixed_kinds_have_all_six_types(data: DataFolder) -> None:
    kinds: set[int] = set()
    for name in ("tracks", "outlines", "osm"):
        workload = make(SMALL[name], data)
        for table in (workload.subscriptions, workload.publications):
            kinds |= set(shapely.get_type_id(shapely.from_wkb(table["geometry"].to_numpy())))
    assert {0, 1, 3, 4, 5, 6} <= kinds


def test_trips_break_at_taxis_pauses_jumps_and_passengers(data: DataFolder) -> None:
    table = data.table("sf_cabspotting_week")
    lines = trips(table)
    assert len(lines) > 10
    assert (shapely.get_num_coordinates(lines) <= 5).all()
    assert (shapely.length(lines) > 0).all()


def test_small_polygons_match_as_often_as_the_reference(data: DataFolder) -> None:
    workload = make(replace(RECIPES["million"], subs=20_000, pubs=2_000), data)
    polygons = shapely.from_wkb(workload.subscriptions["geometry"].to_numpy())
    events = shapely.from_wkb(workload.publications["geometry"].to_numpy())
    reference = unique_subscriptions(10_000, data, np.random.default_rng(5))
    wanted = matches_per_event(reference, events)
    assert matches_per_event(polygons, events) == pytest.approx(wanted, rel=0.1)
    assert len(workload.subscriptions["geometry"].unique()) == 20_000


def test_written_files_hold_the_workload(data: DataFolder, tmp_path: Path) -> None:
    workload = make(replace(SMALL["thesis"], attributes=True), data)
    write(workload, tmp_path / "new" / "folder")
    for side in ("subscriptions", "publications"):
        table = pq.read_table(tmp_path / "new" / "folder" / f"{side}.parquet")
        assert table.equals(getattr(workload, side))


@pytest.mark.parametrize(
    ("recipe", "complaint"),
    [
        (Recipe(predicate="near"), "near"),
        (Recipe(maker="clouds"), "clouds"),
        (Recipe(subs=0), "at least one"),
        (Recipe(points=1.5), "between 0 and 1"),
        (Recipe(densify=-1), "longest edge"),
        (Recipe(maker="tracks", unique=True), "unique"),
    ],
)
def test_recipes_that_make_no_sense_are_refused(
    data: DataFolder, recipe: Recipe, complaint: str
) -> None:
    with pytest.raises((InputError, UnknownNameError), match=complaint):
        make(recipe, data)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_maker_reads_no_file_that_it_does_not_name(tmp_path: Path, maker: str) -> None:
    write_fake_data(tmp_path)
    recipe = next(recipe for recipe in SMALL.values() if recipe.maker == maker)
    needed = needs([recipe])
    for file in tmp_path.iterdir():
        if file.stem not in needed:
            file.unlink()
    make(recipe, DataFolder(tmp_path))
