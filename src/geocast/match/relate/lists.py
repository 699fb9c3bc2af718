"""Lists of numbers in one array: what a publication matches, as Arrow's list view has it."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.machine import prefetch

__all__ = ["Lists", "add_to_lists", "gather", "merge_tail", "room", "sort_range"]


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


@njit(cache=True)
def sort_range(values: NDArray[np.int32], a: int, b: int) -> None:
    """Sort values[a:b]; short ones by insertion."""
    if b - a > 48:
        values[a:b].sort()
        return
    for k in range(a + 1, b):
        v = values[k]
        j = k
        while j > a and values[j - 1] > v:
            values[j] = values[j - 1]
            j -= 1
        values[j] = v


@njit(cache=True)
def merge_tail(values: NDArray[np.int32], a: int, middle: int, b: int) -> NDArray[np.int32]:
    """Make values[a:b] sorted, where values[a:middle] is; returns the array, or a larger one."""
    sort_range(values, middle, b)
    if middle == a or values[middle - 1] <= values[middle]:
        return values
    values = room(values, b, b - middle)
    values[b : 2 * b - middle] = values[middle:b]
    i, j, k = middle - 1, 2 * b - middle - 1, b - 1
    while j >= b:
        if i >= a and values[i] > values[j]:
            values[k] = values[i]
            i -= 1
        else:
            values[k] = values[j]
            j -= 1
        k -= 1
    return values


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
