"""Points against the cells of areas: listed is what shapely finds, whatever room there is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import shapely
from numpy.typing import NDArray

from geocast.match.index.cells import CellIndex
from geocast.match.matcher import Matcher
from geocast.match.relate.lists import Lists
from geocast.match.relate.points import curve_order, labels_of, match_points
from geocast.match.search import Search
from geocast.match.standing import Standing


def standing_on(areas: NDArray[np.object_]) -> Standing:
    """Return subscriptions whose numbers are those of the areas."""
    ids = [f"{number:05d}" for number in range(len(areas))]
    table = {"id": ids, "geometry": shapely.to_wkb(areas), "predicate": ["within"] * len(areas)}
    return Matcher(pa.table(table))._standing


def lists_of(
    standing: Standing, xy: NDArray[np.float64], room: int, *, sort: bool
) -> list[list[int]]:
    """Match points with room for so many values; points in doubt must not be among them."""
    part = standing.parts[0]
    assert isinstance(part.index, CellIndex)
    lists = Lists(np.zeros(len(xy), np.int64), np.zeros(len(xy), np.int32))
    labels = labels_of(part.ranges, standing.subscription[part.row])
    xs, ys = (np.ascontiguousarray(column) for column in xy.T)
    values, used, doubts = match_points(
        part.index.trie, part.shapes, labels, sort, xs, ys, lists, np.empty(room, np.int32)
    )
    assert len(doubts) == 0
    assert used <= len(values)
    pairs = zip(lists.start.tolist(), lists.length.tolist(), strict=True)
    return [values[start : start + length].tolist() for start, length in pairs]


def brute_force(areas: NDArray[np.object_], xy: NDArray[np.float64]) -> list[list[int]]:
    inside = shapely.contains_xy(areas[None, :], xy[:, :1], xy[:, 1:])
    return [np.flatnonzero(row).tolist() for row in inside]


@pytest.mark.parametrize("room", [0, 1, 100, 100_000])
@pytest.mark.parametrize("recurring", [False, True])
def test_any_room_for_values_will_do(room: int, recurring: bool) -> None:
    draw = np.random.default_rng(3)
    centres = draw.uniform(-10, 10, (400, 2))
    areas = shapely.buffer(shapely.points(centres), draw.uniform(0.5, 4, 400))
    if recurring:
        areas = areas[draw.integers(0, 40, 400)]
    xy = draw.uniform(-12, 12, (3000, 2))
    expected = brute_force(areas, xy)
    assert max(map(len, expected)) > 16
    standing = standing_on(areas)
    assert lists_of(standing, xy, room, sort=True) == expected
    assert [sorted(one) for one in lists_of(standing, xy, room, sort=False)] == expected


def test_leaf_with_more_areas_than_there_is_room_for() -> None:
    number = np.arange(300)
    areas = shapely.box(1e-6 * number, -1, 1 + 0.01 * number, 1 + 0.01 * number)
    draw = np.random.default_rng(4)
    xy = np.column_stack([draw.uniform(-1e-4, 4e-4, 500), draw.uniform(-0.5, 0.5, 500)])
    standing = standing_on(areas)
    assert lists_of(standing, xy, 10, sort=True) == brute_force(areas, xy)

    search = Search(standing.parts[0], standing.subscription[standing.parts[0].row], sort=True)
    xs, ys = (np.ascontiguousarray(column) for column in xy.T)
    search.points(xs, ys)
    kept = len(search._values)
    for _ in range(3):
        search.points(xs, ys)
    assert len(search._values) == kept, "no batch takes more memory than the one before"


def test_points_on_edges_and_in_doubt_are_decided() -> None:
    draw = np.random.default_rng(6)
    corners = draw.integers(-20, 20, (300, 2))
    areas = shapely.box(*corners.T, *(corners + draw.integers(1, 9, (300, 2))).T)
    xy = draw.integers(-44, 58, (4000, 2)) / 2
    standing = standing_on(areas)
    search = Search(standing.parts[0], standing.subscription[standing.parts[0].row], sort=True)
    xs, ys = (np.ascontiguousarray(column) for column in xy.T)
    lists, values = search.points(xs, ys)
    pairs = zip(lists.start.tolist(), lists.length.tolist(), strict=True)
    assert [values[a : a + n].tolist() for a, n in pairs] == brute_force(areas, xy)


def test_neighbours_follow_each_other() -> None:
    draw = np.random.default_rng(5)
    xs, ys = draw.uniform(-180, 180, 4000), draw.uniform(-90, 90, 4000)
    order = curve_order(xs, ys)
    assert sorted(order.tolist()) == list(range(4000))

    def way(numbers: NDArray[np.int32]) -> float:
        return float(np.hypot(np.diff(xs[numbers]), np.diff(ys[numbers])).sum())

    assert way(order) < way(np.arange(4000, dtype=np.int32)) / 10
    same = np.full(5, 7.0)
    assert curve_order(same, same).tolist() == [0, 1, 2, 3, 4]
