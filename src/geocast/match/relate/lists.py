"""Lists of numbers in one array: what a publication matches, as Arrow's list view has it."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.machine import prefetch

__all__ = ["Lists", "add_to_lists", "gather", "room", "sort_range"]


_AHEAD: Final = 16
_A_LINE: Final = 16  # numbers


class Lists(NamedTuple):
    """List i is values[start[i] : start[i] + length[i]] of an array of values kept beside."""

    start: NDArray[np.int64]
    length: NDArray[np.int32]


@njit(cache=True, inline="always")
def room(values: NDArray[np.int32], used: int, more: int) -> NDArray[np.int32]:
    """Return values, or a copy twice as large where `more` would not fit behind `used`."""
    return values if used + more <= len(values) else _grown(values, used, more)


@njit(cache=True)
def _grown(values: NDArray[np.int32], used: int, more: int) -> NDArray[np.int32]:
    larger = np.empty(max(2 * len(values), used + more), np.int32)
    larger[:used] = values[:used]
    return larger


@njit(cache=True, _nrt=False)
def sort_range(values: NDArray[np.int32], a: int, b: int) -> None:
    """Sort values[a:b] in place: by insertion, from afar first where there are many (Shell)."""
    gap = 1
    while b - a > 48 * gap:
        gap = 9 * gap // 4 + 1
    while gap > 0:
        for k in range(a + gap, b):
            v = values[k]
            j = k
            while j - gap >= a and values[j - gap] > v:
                values[j] = values[j - gap]
                j -= gap
            values[j] = v
        gap = 0 if gap == 1 else max(1, 4 * gap // 9)


@njit(cache=True, nogil=True)
def gather(
    start: NDArray[np.int64], length: NDArray[np.int32], values: NDArray[np.int32],
    rows: NDArray[np.int64], offsets: NDArray[np.int32], out: NDArray[np.int32],
) -> None:  # fmt: skip
    """Copy list k to out[offsets[rows[k]] : ...] for every k."""
    for k in range(len(rows)):
        if k + _AHEAD < len(rows):
            prefetch(values, start[k + _AHEAD])
            prefetch(values, start[k + _AHEAD] + _A_LINE)
        at, s = offsets[rows[k]], start[k]
        for j in range(length[k]):
            out[at + j] = values[s + j]


@njit(cache=True)
def add_to_lists(
    lists: Lists, values: NDArray[np.int32], owner: NDArray[np.int64], more: NDArray[np.int32],
    sort: bool,
) -> NDArray[np.int32]:  # fmt: skip
    """Add more[k] to list owner[k], owners in order; changed lists move to the end."""
    used = len(values)
    k = 0
    while k < len(owner):
        i = owner[k]
        end = k
        while end < len(owner) and owner[end] == i:
            end += 1
        start, length = lists.start[i], lists.length[i]
        values = room(values, used, length + end - k)
        values[used : used + length] = values[start : start + length]
        values[used + length : used + length + end - k] = more[k:end]
        lists.start[i] = used
        lists.length[i] = length + end - k
        used += length + end - k
        if sort:
            sort_range(values, lists.start[i], used)
        k = end
    return values[:used]
