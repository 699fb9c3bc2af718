"""Taking ids by number gives what Arrow gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from geocast.errors import InputError
from geocast.match import strings
from geocast.match.relate.lists import Lists
from geocast.match.strings import Strings

COLUMNS = {
    "short": [f"s{k}" for k in range(1_000)],
    "of one word": [f"{k:08d}" for k in range(300)],
    "long and empty": ["", "x" * 1_000, "", "héllo wörld", "日本", "y" * 8, "z" * 9],
    "one": ["only"],
}


def one_list(numbers: np.ndarray) -> Lists:
    return Lists(np.zeros(1, np.int64), np.array([len(numbers)], np.int32))


@pytest.mark.parametrize("name", COLUMNS)
def test_strings_are_those_that_arrow_takes(name: str) -> None:
    column = pa.array(COLUMNS[name], pa.string())
    numbers = np.random.default_rng(1).integers(0, len(column), 5_000).astype(np.int32)
    taken = Strings(column).take(one_list(numbers), numbers)
    taken.validate(full=True)
    assert taken.equals(column.take(pa.array(numbers)))


def test_lists_may_lie_anywhere_and_be_shared() -> None:
    column = pa.array(COLUMNS["short"], pa.string())
    values = np.arange(100, dtype=np.int32)
    lists = Lists(np.array([90, 0, 5, 90], np.int64), np.array([3, 0, 1, 3], np.int32))
    taken = Strings(column).take(lists, values)
    assert taken.to_pylist() == ["s90", "s91", "s92", "s5", "s90", "s91", "s92"]


def test_one_long_string_among_many_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings, "_LONGEST", 5_000)
    column = pa.array(["x" * 1_000, *COLUMNS["short"]], pa.string())
    numbers = np.array([0, 5, 17, 0, 0, 900], np.int32)
    assert Strings(column).take(one_list(numbers), numbers).equals(column.take(pa.array(numbers)))
    with pytest.raises(InputError, match="6,000 bytes of ids"):
        Strings(column).take(one_list(np.zeros(6, np.int32)), np.zeros(6, np.int32))


def test_a_slice_of_a_column() -> None:
    column = pa.array(COLUMNS["short"], pa.string()).slice(100, 50)
    numbers = np.array([0, 49, 7], np.int32)
    taken = Strings(column).take(one_list(numbers), numbers)
    assert taken.to_pylist() == ["s100", "s149", "s107"]


def test_nothing_is_taken_from_nothing() -> None:
    nothing = np.empty(0, np.int32)
    taken = Strings(pa.array([], pa.string())).take(one_list(nothing), nothing)
    taken.validate(full=True)
    assert len(taken) == 0


@pytest.mark.parametrize("values", [[], *COLUMNS.values()], ids=["none", *COLUMNS])
def test_strings_are_kept_as_arrays(values: list[str]) -> None:
    column = pa.array(["before", *values], pa.string()).slice(1)
    kept = Strings.from_arrays(Strings(column).arrays())
    kept.column.validate(full=True)
    assert not any(array.flags.writeable for array in Strings(column).arrays().values())
    assert kept.column.equals(column)
    assert len(kept) == len(column)
    numbers = np.arange(len(column), dtype=np.int32)[::-1].copy()
    assert kept.take(one_list(numbers), numbers).equals(column.take(pa.array(numbers)))


def test_strings_kept_without_heads_are_read() -> None:
    column = pa.array(COLUMNS["long and empty"], pa.string())
    arrays = Strings(column).arrays()
    offsets = arrays["offsets"]
    old = Strings.from_arrays({"offsets": offsets, "data": arrays["data"][: offsets[-1]]})
    numbers = np.array([5, 1, 0, 3], np.int32)
    assert old.take(one_list(numbers), numbers).equals(column.take(pa.array(numbers)))
