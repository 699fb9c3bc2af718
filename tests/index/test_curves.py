from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from geocast.match.geometry.curves import (
    MAX_ORDER,
    grid_coordinates,
    hilbert_key,
    hilbert_keys,
    hilbert_order,
    morton_key,
    morton_keys,
)

# The first example may wait for a kernel to be compiled.
patient = settings(deadline=None)
UINT32 = st.integers(0, 2**32 - 1)


def all_cells(order: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    x, y = np.meshgrid(np.arange(2**order), np.arange(2**order))
    return x.ravel().astype(np.uint32), y.ravel().astype(np.uint32)


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_hilbert_visits_every_cell_by_steps_of_one(order: int) -> None:
    x, y = all_cells(order)
    keys = hilbert_keys(x, y, order)
    assert sorted(keys.tolist()) == list(range(4**order))
    along = np.argsort(keys)
    steps = np.abs(np.diff(x[along].astype(int))) + np.abs(np.diff(y[along].astype(int)))
    assert set(steps.tolist()) == {1}


def test_hilbert_of_four_cells() -> None:
    x, y = np.array([0, 0, 1, 1], np.uint32), np.array([0, 1, 1, 0], np.uint32)
    assert hilbert_keys(x, y, 1).tolist() == [0, 1, 2, 3]


@patient
@given(x=UINT32, y=UINT32)
def test_finest_hilbert_curve_is_one_to_one_nearby(x: int, y: int) -> None:
    columns = np.array([x, x ^ 1, x, x ^ 1], np.uint32)
    rows = np.array([y, y, y ^ 1, y ^ 1], np.uint32)
    keys = hilbert_keys(columns, rows, MAX_ORDER)
    assert len({int(key) >> 2 for key in keys}) == 1
    assert sorted(int(key) & 3 for key in keys) == [0, 1, 2, 3]


@patient
@given(x=UINT32, y=UINT32)
def test_morton_interleaves_bits(x: int, y: int) -> None:
    key = int(morton_keys(np.array([x], np.uint32), np.array([y], np.uint32))[0])
    bits = f"{key:064b}"
    assert int(bits[1::2], 2) == x
    assert int(bits[0::2], 2) == y


@patient
@given(x=st.integers(0, 2**16 - 1), y=st.integers(0, 2**16 - 1))
def test_one_cell_as_many(x: int, y: int) -> None:
    columns, rows = np.array([x], np.uint32), np.array([y], np.uint32)
    assert hilbert_key(columns[0], rows[0], 16) == hilbert_keys(columns, rows, 16)[0]
    assert morton_key(columns[0], rows[0]) == morton_keys(columns, rows)[0]


@patient
@given(
    values=st.lists(st.floats(allow_nan=False), min_size=1, max_size=30),
    ends=st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).map(sorted),
    order=st.integers(1, MAX_ORDER),
)
def test_grid_coordinates_never_decrease(
    values: list[float], ends: list[float], order: int
) -> None:
    cells = grid_coordinates(np.sort(np.array(values)), ends[0], ends[1], order)
    assert (np.diff(cells.astype(np.int64)) >= 0).all()
    assert cells.max() <= 2**order - 1


def test_grid_coordinates_by_hand() -> None:
    values = np.array([-np.inf, -1.0, 0.0, 0.99, 1.0, 3.5, 4.0, 9.0, np.inf])
    assert grid_coordinates(values, 0.0, 4.0, 2).tolist() == [0, 0, 0, 0, 1, 3, 3, 3, 3]
    assert grid_coordinates(values[1:-1], 1.0, 1.0, 2).tolist() == [0] * 7


def test_hilbert_order_of_boxes() -> None:
    corners = np.array([[9, 0, 9, 0], [0, 9, 0, 9], [9, 9, 9, 9], [0, 0, 0, 0], [9, 9, 9, 9]])
    assert hilbert_order(corners.astype(np.float64)).tolist() == [3, 1, 2, 4, 0]
    assert hilbert_order(np.empty((0, 4))).tolist() == []
