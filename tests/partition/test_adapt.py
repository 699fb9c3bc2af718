from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocast.match.partition import METHODS, partition
from geocast.match.partition.adapt import Load, adapted, imbalance


def boxes(
    rng: np.random.Generator, count: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    low = rng.integers(0, 50, (count, 2)).astype(float)
    return np.hstack([low, low + rng.integers(1, 4, (count, 2))])


def loads_of(
    partitioning: object, points: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> dict[int, Load]:
    """Every point costs the same, in the partition that owns it."""
    owner = partitioning.owner(points)  # type: ignore[attr-defined]
    return {int(k): Load(float((owner == k).sum()), points[owner == k]) for k in np.unique(owner)}


@pytest.mark.parametrize("method", METHODS)
def test_a_hot_spot_is_spread_over_many_cells(method: str) -> None:
    rng = np.random.default_rng(1)
    now = partition(method, boxes(rng, 500), 30)
    hot = np.concatenate([rng.normal(25, 1, (2_000, 2)), rng.uniform(0, 50, (500, 2))])
    assert imbalance(loads_of(now, hot), now.count) > 4
    now = adapted(now, loads_of(now, hot), 30)
    assert len(now.cells) == 30
    assert imbalance(loads_of(now, hot), now.count) < 1.5


def test_idle_cells_are_joined() -> None:
    now = partition("EG", np.array([[0.0, 0.0, 10.0, 10.0]]), 100)
    busy = np.random.default_rng(2).uniform(0, 3, (500, 2))
    now = adapted(now, loads_of(now, busy), 100)
    idle = now.cells[(now.cells[:, :2] >= 5).any(axis=1)]
    assert 0 < len(idle) < 40
    assert imbalance(loads_of(now, busy), now.count) < 1.5


def test_publications_in_one_place_cannot_be_told_apart() -> None:
    now = partition("EG", np.array([[0.0, 0.0, 10.0, 10.0]]), 4)
    same = Load(5.0, np.full((50, 2), 3.0))
    others = {number: Load(1.0, now.cells[number][None, :2] + 1) for number in (1, 2, 3)}
    assert adapted(now, {0: same} | others, 4) is now
    cells = adapted(now, {0: same.plus(Load(4.0, np.ones((50, 2))))} | others, 4).cells
    assert ((cells[:, :2] < 3) & (cells[:, 2:] > 3)).all(axis=1).sum() == 1


def test_even_loads_change_nothing() -> None:
    now = partition("EG", np.array([[0.0, 0.0, 10.0, 10.0]]), 4)
    loads = {
        number: Load(1.0, np.random.default_rng(2).uniform(0, 10, (20, 2))) for number in range(4)
    }
    assert adapted(now, loads, 4) is now


def test_without_loads_nothing_changes() -> None:
    now = partition("EG", np.array([[0.0, 0.0, 10.0, 10.0]]), 4)
    assert adapted(now, {}, 4) is now
    assert adapted(now, {0: Load(0.0, np.zeros((3, 2))), 4: Load(9.0, np.zeros((3, 2)))}, 4) is now


def test_cells_tile_all_that_was_covered() -> None:
    rng = np.random.default_rng(3)
    now = partition("HI", boxes(rng, 300), 20)
    for _ in range(4):
        now = adapted(now, loads_of(now, rng.normal(rng.uniform(0, 50, 2), 4, (300, 2))), 20)
    sides = now.cells[:, 2:] - now.cells[:, :2]
    whole = now.covered[0, 2:] - now.covered[0, :2]
    assert sides.prod(axis=1).sum() == pytest.approx(whole.prod())


@given(st.sampled_from(sorted(METHODS)), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_every_pair_that_meets_has_one_partition(method: str, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    subscriptions, publications = boxes(rng, 60), boxes(rng, 30)
    now = partition(method, subscriptions, count)
    centre = rng.uniform(0, 50, 2)
    now = adapted(now, loads_of(now, rng.normal(centre, 3, (200, 2))), count)
    one, other = np.repeat(publications, 60, axis=0), np.tile(subscriptions, (30, 1))
    meets = (one[:, :2] <= other[:, 2:]).all(axis=1) & (one[:, 2:] >= other[:, :2]).all(axis=1)
    one, other = one[meets], other[meets]
    owner = now.owner_of_pair(one, other)
    for side in (one, other):
        offsets, places = now.places(side)
        query = np.repeat(np.arange(len(side)), np.diff(offsets))
        assert np.bincount(query[places == owner[query]], minlength=len(side)).tolist() == [
            1
        ] * len(side)
