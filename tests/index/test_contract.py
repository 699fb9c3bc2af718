"""What every index over bounding boxes must do; a new member is one line in the registry."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.match.index import INDEXES, BoundsIndex

from .boxes import Boxes, answers, as_boxes, boxes_on_grid, brute_force, realistic

EXACT = ("strtree", "hprtree", "quadtree", "multigrid")
NAN = float("nan")
INFINITY = float("inf")
EVERYWHERE = as_boxes([(-INFINITY, -INFINITY, INFINITY, INFINITY)])
WORLD = (-180.0, -90.0, 180.0, 90.0)

Index = type[BoundsIndex]

# The first example may wait for a kernel to be compiled.
patient = settings(deadline=None)
every_index = pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)


def check(index: Index, items: Boxes, queries: Boxes) -> None:
    found = answers(index.build(items), queries)
    for got, expected in zip(found, brute_force(items, queries), strict=True):
        assert len(set(got)) == len(got), "an item is reported twice"
        assert expected <= set(got), "an item is missing"
        assert set(got) <= set(range(len(items))), "there is no such item"
        if index.name in EXACT:
            assert set(got) == expected, "an item does not meet the query"


def test_registry_names() -> None:
    assert {name: index.name for name, index in INDEXES.items()} == {name: name for name in INDEXES}


@every_index
@patient
@given(items=boxes_on_grid(largest=8, most=60), queries=boxes_on_grid(largest=8, most=20))
def test_coarse_grid(index: Index, items: Boxes, queries: Boxes) -> None:
    check(index, items, queries)


@every_index
@patient
@given(
    items=boxes_on_grid(largest=300, most=200),
    queries=boxes_on_grid(largest=300, most=20),
    origin=st.sampled_from([(0.0, 0.0), (-180.0, -90.0), (1e6, -1e6), (1e-9, 0.1)]),
    step=st.sampled_from([1.0, 0.1, 1e-7, 1e12]),
)
def test_fine_grid(
    index: Index, items: Boxes, queries: Boxes, origin: tuple[float, float], step: float
) -> None:
    check(index, items * step + [*origin, *origin], queries * step + [*origin, *origin])


@every_index
def test_realistic(index: Index) -> None:
    items = realistic(5_000, seed=1)
    queries = np.concatenate([realistic(300, seed=2), items[:100], as_boxes([WORLD])])
    check(index, items, queries)


@every_index
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 255, 256, 257, 4096, 4097])
def test_every_size(index: Index, count: int) -> None:
    items = realistic(max(count, 1), seed=count)[:count]
    built = index.build(items)
    assert len(built) == count
    found = answers(built, np.concatenate([as_boxes([WORLD]), EVERYWHERE]))
    assert [sorted(got) for got in found] == [list(range(count))] * 2


@every_index
@pytest.mark.parametrize("count", [0, 1, 100])
def test_no_queries(index: Index, count: int) -> None:
    built = index.build(realistic(max(count, 1), seed=3)[:count])
    assert answers(built, np.empty((0, 4))) == []


@every_index
def test_poles_and_date_line(index: Index) -> None:
    xs, ys = np.meshgrid([-180.0, -179.0, 0.0, 179.0, 180.0], [-90.0, -89.0, 0.0, 89.0, 90.0])
    points = np.stack([xs.ravel(), ys.ravel()], axis=1)
    reach = np.minimum(points + 1.0, [180.0, 90.0])
    items = np.concatenate([np.hstack([points, points]), np.hstack([points, reach])])
    items = np.concatenate([items, as_boxes([WORLD, (-180, -90, 180, -90), (180, -90, 180, 90)])])
    check(index, items, items)


@every_index
def test_world_sized_boxes_among_small_ones(index: Index) -> None:
    small = realistic(2_000, seed=4)
    items = np.concatenate([small, np.repeat(as_boxes([WORLD]), 50, axis=0)])
    check(index, items, small[:200])


@every_index
@pytest.mark.parametrize("box", [(5, 5, 5, 5), (5, 5, 6, 6), (5, 0, 5, 9), WORLD])
def test_identical_boxes(index: Index, box: tuple[float, float, float, float]) -> None:
    items = np.repeat(as_boxes([box]), 1_000, axis=0)
    queries = as_boxes([box, WORLD, (179, 89, 180, 90), (-180, -90, -180, -90)])
    check(index, items, queries)


@every_index
def test_one_far_item_and_a_crowd(index: Index) -> None:
    crowd = realistic(1_000, seed=5) * 1e-6
    check(index, np.concatenate([crowd, as_boxes([(1e9, 1e9, 1e9, 1e9)])]), crowd[:100])


@every_index
def test_huge_and_tiny_coordinates(index: Index) -> None:
    largest, tiny = 1.7e308, 5e-324
    huge = as_boxes([(-largest, -largest, largest, largest), (largest,) * 4, (-largest, 0, 0, 0)])
    small = as_boxes([(0, 0, tiny, tiny), (tiny, 0, tiny, 0)])
    both = np.concatenate([huge, small])
    check(index, np.repeat(both, 20, axis=0), both)
    check(index, np.repeat(small, 20, axis=0), both)


@every_index
def test_queries_outside_and_half_infinite(index: Index) -> None:
    items = realistic(500, seed=6)
    outside = as_boxes([(500, 500, 501, 501), (-500, -500, -499, -499), (INFINITY,) * 4])
    half_infinite = as_boxes([(-INFINITY, 50, -2, 54), (-2, 54, INFINITY, INFINITY)])
    check(index, items, np.concatenate([outside, half_infinite]))


@every_index
def test_mapped_arrays_answer_the_same(index: Index, tmp_path: Path) -> None:
    for count in (0, 1, 3_000):
        built = index.build(realistic(max(count, 1), seed=7)[:count])
        for name, array in built.arrays().items():
            np.save(tmp_path / f"{name}.npy", array)
        mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in built.arrays()}
        opened = index.from_arrays(mapped)
        queries = realistic(200, seed=8)
        assert len(opened) == count
        assert answers(opened, queries) == answers(built, queries)
        for name, array in opened.arrays().items():
            assert np.shares_memory(array, mapped[name]) or array.size == 0


@every_index
def test_arrays_are_read_only(index: Index) -> None:
    for array in index.build(realistic(100, seed=9)).arrays().values():
        assert not array.flags.writeable
        assert array.flags.c_contiguous


@every_index
def test_deterministic(index: Index) -> None:
    items = realistic(3_000, seed=10)
    first, second = index.build(items).arrays(), index.build(items.copy()).arrays()
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@every_index
def test_input_stays_as_it_was(index: Index) -> None:
    items = realistic(500, seed=11)
    before = items.copy()
    built = index.build(items)
    expected = answers(built, before)
    np.testing.assert_array_equal(items, before)
    items[:] = 0.0
    assert items.flags.writeable
    assert answers(built, before) == expected


@every_index
def test_any_layout_of_queries(index: Index) -> None:
    built = index.build(realistic(500, seed=12))
    queries = realistic(100, seed=13)
    expected = answers(built, queries)
    assert answers(built, np.asfortranarray(queries)) == expected
    assert answers(built, np.repeat(queries, 2, axis=0)[::2]) == expected


@every_index
@pytest.mark.parametrize(
    "bad",
    [
        (NAN, 0, 1, 1),
        (0, NAN, 1, 1),
        (0, 0, NAN, 1),
        (0, 0, 1, NAN),
        (NAN, NAN, NAN, NAN),
        (2, 0, 1, 1),
        (0, 2, 1, 1),
    ],
)
def test_refuses_what_is_not_a_box(index: Index, bad: tuple[float, float, float, float]) -> None:
    good = as_boxes([(0, 0, 1, 1)])
    boxes = np.concatenate([good, good, as_boxes([bad]), good])
    with pytest.raises(InputError, match="query box 2 is not a box"):
        index.build(good).query(boxes)
    with pytest.raises(InputError, match="indexed box 2 is not a box"):
        index.build(boxes)


@every_index
def test_refuses_infinite_items(index: Index) -> None:
    with pytest.raises(InputError, match="indexed box 0 is not a box"):
        index.build(EVERYWHERE)


@every_index
@pytest.mark.parametrize("shape", [(4,), (2, 2), (2, 5), (1, 1, 4)])
def test_refuses_other_shapes(index: Index, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"must have the shape \(n, 4\)"):
        index.build(np.zeros(shape))
    with pytest.raises(InputError, match=r"must have the shape \(n, 4\)"):
        index.build(np.zeros((1, 4))).query(np.zeros(shape))


@every_index
def test_refuses_more_items_than_numbers(index: Index) -> None:
    too_many = np.broadcast_to(np.zeros(4), (2**31, 4))
    with pytest.raises(InputError, match="more than the 2147483647 possible"):
        index.build(too_many)


@every_index
def test_many_items(index: Index) -> None:
    items = realistic(200_000, seed=15)
    built = index.build(items)
    sample = items[::20_000]
    for got, expected in zip(answers(built, sample), brute_force(items, sample), strict=True):
        assert expected <= set(got)
