"""What every partitioning must do; a new method is one line in the registry."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geocast.errors import InputError, UnknownNameError
from geocast.match.partition import METHODS, Partitioning, hashed, partition
from tests.index.boxes import Boxes, as_boxes, boxes_on_grid

# The first example may wait for a kernel to be compiled.
patient = settings(deadline=None)
every_method = pytest.mark.parametrize("method", METHODS)
counts = st.sampled_from([1, 2, 3, 4, 7, 16, 100])
some_boxes = boxes_on_grid(largest=8, most=40)
far_boxes = boxes_on_grid(largest=12, most=12)


def places(cut: Partitioning, boxes: Boxes) -> list[list[int]]:
    offsets, partitions = cut.places(boxes)
    assert offsets[0] == 0
    assert offsets[-1] == len(partitions)
    return [partitions[start:stop].tolist() for start, stop in pairwise(offsets)]


def meet(one: np.ndarray, other: np.ndarray) -> bool:
    return bool((one[:2] <= other[2:]).all() and (other[:2] <= one[2:]).all())


def covered_by_cells(cut: Partitioning, box: np.ndarray) -> bool:
    """By brute force: on integer grids, it does to look at halves of grid steps."""
    xs = np.arange(box[0], box[2] + 0.25, 0.5)
    ys = np.arange(box[1], box[3] + 0.25, 0.5)
    spots = [np.array([x, y, x, y]) for x in xs for y in ys]
    return all(any(meet(cell, spot) for cell in cut.cells) for spot in spots)


def test_the_registry_has_the_methods_of_the_study() -> None:
    assert sorted(METHODS) == ["EG", "HI", "KT", "QT", "ST", "VO"]
    assert {name: method.name for name, method in METHODS.items()} == {n: n for n in METHODS}


@every_method
@patient
@given(items=some_boxes, queries=far_boxes, count=counts)
def test_a_box_is_placed_in_every_cell_that_it_meets(
    method: str, items: Boxes, queries: Boxes, count: int
) -> None:
    cut = partition(method, items, count)
    assert len(cut.cells) <= count
    for box, found in zip(queries, places(cut, queries), strict=True):
        cells = [number for number, cell in enumerate(cut.cells) if meet(cell, box)]
        assert found[: len(cells)] == cells
        assert found[len(cells) :] in ([], [cut.overflow])
        if not covered_by_cells(cut, box):
            assert found[-1] == cut.overflow


@every_method
@patient
@given(items=some_boxes, queries=far_boxes, count=counts)
def test_boxes_that_meet_are_together_where_their_pair_is_owned(
    method: str, items: Boxes, queries: Boxes, count: int
) -> None:
    """So no match is lost, and none is reported twice."""
    cut = partition(method, items, count)
    of_items, of_queries = places(cut, items), places(cut, queries)
    pairs = [
        (i, q) for i in range(len(items)) for q in range(len(queries)) if meet(items[i], queries[q])
    ]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    owners = cut.owner_of_pair(items[rows], queries[columns]).tolist()
    for (i, q), owner in zip(pairs, owners, strict=True):
        assert owner in of_items[i]
        assert owner in of_queries[q]


@every_method
@patient
@given(items=some_boxes, queries=far_boxes, count=counts)
def test_the_home_is_one_of_the_places_and_a_point_has_one_owner(
    method: str, items: Boxes, queries: Boxes, count: int
) -> None:
    cut = partition(method, items, count)
    found = places(cut, queries)
    assert cut.home(queries).tolist() == [min(one) for one in found]
    points = queries[:, :2]
    spots = np.hstack([points, points])
    assert cut.owner(points).tolist() == [min(one) for one in places(cut, spots)]


@pytest.mark.parametrize("method", ["QT", "KT", "ST", "EG"])
@patient
@given(items=some_boxes.filter(len), count=counts)
def test_tiles_do_not_overlap_and_leave_nothing_out(method: str, items: Boxes, count: int) -> None:
    cut = partition(method, items, count)
    low, high = items[:, :2].min(axis=0), items[:, 2:].max(axis=0)
    assert cut.covered.tolist() == [[*low, *high]]
    areas = (cut.cells[:, 2:] - cut.cells[:, :2]).prod(axis=1)
    assert areas.sum() == pytest.approx((high - low).prod())
    for number, one in enumerate(cut.cells):
        for other in cut.cells[number + 1 :]:
            shared = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
            assert shared.min() <= 0


@every_method
def test_whatever_lies_outside_is_in_the_overflow(method: str) -> None:
    cut = partition(method, scattered(500), 20)
    outside = as_boxes([(-170, -80, -160, -70), (50, 50, 50, 50), (-180, -90, 180, 90)])
    found = places(cut, outside)
    assert found[:2] == [[cut.overflow]] * 2
    assert found[2] == list(range(cut.count))


@every_method
@pytest.mark.parametrize("count", [1, 500])
def test_extreme_numbers_of_partitions(method: str, count: int) -> None:
    cut = partition(method, scattered(2_000), count)
    assert 0.9 * count - 3 <= len(cut.cells) <= count
    loads = np.bincount(np.concatenate(places(cut, scattered(2_000))), minlength=cut.count)
    assert loads[:-1].sum() >= 2_000


@every_method
@pytest.mark.parametrize(
    "items",
    [
        as_boxes([(3, 4, 3, 4)]),
        as_boxes([(3, 4, 3, 4)] * 100),
        as_boxes([(x, 1, x, 1) for x in range(50)]),
        as_boxes([(1, y, 1, y) for y in range(50)] + [(1, 0, 1, 0)] * 50),
        as_boxes([(0, 0, 9, 9)] * 3),
        np.empty((0, 4)),
    ],
    ids=["a point", "one point often", "in a row", "in a column", "equal boxes", "nothing"],
)
def test_data_that_can_hardly_be_cut(method: str, items: Boxes) -> None:
    cut = partition(method, items, 10)
    assert len(cut.cells) <= 10
    assert all(found for found in places(cut, items))
    assert places(cut, as_boxes([(77, 77, 78, 78)])) == [[cut.overflow]]


@every_method
def test_real_shapes_are_in_every_cell_that_they_are_not_disjoint_from(method: str) -> None:
    chance = np.random.default_rng(3)
    spots = shapely.points(chance.normal(0, 5, (300, 2)))
    shapes = shapely.buffer(spots, chance.exponential(0.5, 300), quad_segs=3)
    bounds = shapely.bounds(shapes)
    cut = partition(method, bounds, 60)
    cells = shapely.box(*cut.cells.T)
    for shape, found in zip(shapes, places(cut, bounds), strict=True):
        assert set(np.flatnonzero(shapely.intersects(cells, shape))) <= set(found)


@pytest.mark.parametrize("method", ["KT", "ST", "QT"])
def test_cells_are_even_where_data_are_not(method: str) -> None:
    items = scattered(20_000)
    homes = np.bincount(partition(method, items, 64).home(items), minlength=65)
    most = {"KT": 2.0, "ST": 2.0, "QT": 6.0}[method]
    assert homes.max() <= most * homes[:-1].mean()


@every_method
def test_the_same_boxes_give_the_same_cells_and_a_copy_answers_alike(method: str) -> None:
    items = scattered(1_000)
    cut = partition(method, items, 30)
    copy = pickle.loads(pickle.dumps(cut))
    assert np.array_equal(cut.cells, partition(method, items, 30).cells)
    assert places(copy, items) == places(cut, items)


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(UnknownNameError, match=r"'XX'.*QT"):
        partition("XX", scattered(10), 4)
    with pytest.raises(InputError, match="0 partitions"):
        partition("QT", scattered(10), 0)


def test_hashes_are_even_and_the_same_everywhere() -> None:
    found = hashed((f"s{number}" for number in range(10_000)), 16)
    loads = np.bincount(found, minlength=16)
    assert loads.min() > 0.8 * 625
    assert loads.max() < 1.2 * 625
    assert hashed(["alps", "ärmel", ""], 100).tolist() == [26, 14, 0]


def scattered(number: int) -> Boxes:
    """Small boxes: half of them in a dense spot, the others all over."""
    chance = np.random.default_rng(number)
    middles = np.where(
        np.arange(number)[:, None] % 2,
        chance.normal(2, 0.3, (number, 2)),
        chance.uniform(-10, 10, (number, 2)),
    )
    sizes = chance.exponential(0.02, (number, 2))
    return np.hstack([middles - sizes, middles + sizes])
