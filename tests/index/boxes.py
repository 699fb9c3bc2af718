"""Boxes for tests, and brute force as judge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from geocast.match.index import BoundsIndex

__all__ = ["Boxes", "answers", "as_boxes", "boxes_on_grid", "brute_force", "realistic"]

Boxes = NDArray[np.float64]


def as_boxes(rows: Sequence[tuple[float, float, float, float]]) -> Boxes:
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def boxes_on_grid(largest: int, most: int) -> st.SearchStrategy[Boxes]:
    """Boxes with corners on a coarse grid: many touch, coincide, or are lines and points."""
    side = st.tuples(st.integers(0, largest), st.integers(0, largest)).map(sorted)
    box = st.tuples(side, side).map(lambda xy: (xy[0][0], xy[1][0], xy[0][1], xy[1][1]))
    return st.lists(box, max_size=most).map(as_boxes)


def realistic(count: int, seed: int) -> Boxes:
    """Small boxes in clusters of different density, some large ones, points, repeated boxes."""
    rng = np.random.default_rng(seed)
    towns = rng.normal((-2.0, 54.0), (3.0, 4.0), (40, 2))
    spread = rng.lognormal(-2.0, 1.0, (40, 1))
    town = rng.integers(0, 40, count)
    centres = towns[town] + rng.normal(size=(count, 2)) * spread[town]
    sizes = rng.lognormal(-4.5, 1.6, (count, 1)) * rng.uniform(0.5, 1.0, (count, 2))
    sizes[rng.random(count) < 0.1] = 0.0
    boxes = np.hstack([centres - sizes / 2, centres + sizes / 2])
    repeated = rng.random(count) < 0.2
    boxes[repeated] = boxes[rng.integers(0, count, repeated.sum())]
    return boxes


def brute_force(items: Boxes, queries: Boxes) -> list[set[int]]:
    low, high = items[:, :2], items[:, 2:]
    return [
        set(np.flatnonzero(((low <= box[2:]) & (high >= box[:2])).all(axis=1)).tolist())
        for box in queries
    ]


def answers(index: BoundsIndex, queries: Boxes) -> list[list[int]]:
    offsets, items = index.query(queries)
    assert offsets.dtype == np.int64
    assert items.dtype == np.int32
    assert offsets.shape == (len(queries) + 1,)
    assert offsets[0] == 0
    assert offsets[-1] == len(items)
    return [items[a:b].tolist() for a, b in pairwise(offsets)]
