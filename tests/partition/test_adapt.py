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
def test_a_hot_spot_is_spread_over_several_cells(method: str) -> None:
    rng = np.random.default_rng(1)
    now = partition(method, boxes(rng, 500), 30)
    hot = np.concatenate([rng.normal(25, 1, (2_000, 2)), rng.uniform(0, 50, (500, 2))])
    before = imbalance(loads_of(now, hot))
    assert before > 4
    for _ in range(3):
        now = adapted(now, loads_of(now, hot), 30)
    assert imbalance(loads_of(now, hot)) < min(2.5, before)
    assert len(now.cells) <= 36


def test_even_loads_change_nothing() -> None:
    now = partition("EG", np.array([[0.0, 0.0, 10.0, 10.0]]), 4)
    loads = {
        number: Load(1.0, np.random.default_rng(2).uniform(0, 10, (20, 2))) for number in range(4)
    }
    assert np.array_equal(adapted(now, loads, 4).cells, now.cells)
    assert adapted(now, {}, 4) is now


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
