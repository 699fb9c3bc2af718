"""Taking ids by number gives what Arrow gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from geocast.match.strings import Strings

COLUMNS = {
    "short": [f"s{k}" for k in range(1_000)],
    "of one word": [f"{k:08d}" for k in range(300)],
    "long and empty": ["", "x" * 1_000, "", "héllo wörld", "日本", "y" * 8, "z" * 9],
    "one": ["only"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_strings_are_those_that_arrow_takes(name: str) -> None:
    column = pa.array(COLUMNS[name], pa.string())
    numbers = np.random.default_rng(1).integers(0, len(column), 5_000).astype(np.int32)
    taken = Strings(column).take(numbers)
    taken.validate(full=True)
    assert taken.equals(column.take(pa.array(numbers)))


def test_a_slice_of_a_column() -> None:
    column = pa.array(COLUMNS["short"], pa.string()).slice(100, 50)
    taken = Strings(column).take(np.array([0, 49, 7], np.int32))
    assert taken.to_pylist() == ["s100", "s149", "s107"]


def test_nothing_is_taken_from_nothing() -> None:
    taken = Strings(pa.array([], pa.string())).take(np.empty(0, np.int32))
    taken.validate(full=True)
    assert len(taken) == 0
