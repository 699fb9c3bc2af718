"""Version numbers of subscriptions: read from tables, and as sorted arrays on disk."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.errors import StateError
from geocast.match.columns import string_ids
from geocast.operate import write_durably

__all__ = ["Numbers", "in_sorted", "load_numbers", "map_numbers", "numbers_of", "some", "write"]

Numbers = NDArray[np.int64]

_SHOWN = 5


def numbers_of(table: pa.Table) -> Numbers:
    """Return the version numbers that are the ids of a table of subscriptions, row by row.

    Raises StateError naming ids that are none: they must be whole numbers as Python writes them.
    """
    ids = string_ids(table, "subscriptions").values
    digits = pc.match_substring_regex(ids, r"^(0|[1-9][0-9]{0,17})$").fill_null(False)
    bad = np.flatnonzero(~digits.to_numpy(zero_copy_only=False))
    if len(bad):
        names = [repr(ids[int(row)].as_py()) for row in bad[:_SHOWN]]
        more = "" if len(bad) <= _SHOWN else f" and {len(bad) - _SHOWN} more"
        raise StateError(f"ids that are no version numbers: {', '.join(names)}{more}")
    numbers: Numbers = pc.cast(ids, pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def in_sorted(ordered: Numbers, wanted: Numbers) -> NDArray[np.bool_]:
    """Return which of the wanted numbers are in a sorted array; reads only little of that."""
    if len(ordered) == 0:
        return np.zeros(len(wanted), np.bool_)
    place = np.searchsorted(ordered, wanted)
    return np.asarray(ordered[np.minimum(place, len(ordered) - 1)] == wanted)


def some(numbers: Numbers) -> str:
    """Name the first of some numbers, and how many more there are."""
    names = ", ".join(map(str, numbers[:_SHOWN].tolist()))
    return names if len(numbers) <= _SHOWN else f"{names} and {len(numbers) - _SHOWN} more"


def write(path: Path, ordered: Numbers) -> None:
    """Write an array durably."""
    content = io.BytesIO()
    np.save(content, ordered)
    write_durably(path, content.getvalue())


def load_numbers(path: Path) -> Numbers:
    """Read an array that `write` wrote."""
    return _opened(path, mapped=False)


def map_numbers(path: Path) -> Numbers:
    """Map an array into memory; what is not looked at is not read."""
    return _opened(path, mapped=True)


def _opened(path: Path, *, mapped: bool) -> Numbers:
    try:
        array = np.load(path, mmap_mode="r" if mapped else None)
    except (OSError, ValueError, EOFError) as error:
        raise StateError(f"{path} cannot be read: {error}") from error
    if array.dtype != np.int64 or array.ndim != 1:
        raise StateError(f"{path} does not hold version numbers")
    return np.asarray(array)
