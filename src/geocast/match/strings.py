"""Ids by number: a column of strings, taken many times over."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import frozen
from geocast.match.machine import load_word, store_word

__all__ = ["Strings"]

_WORD: Final = 8
_LONGEST: Final = (1 << 31) - 1


@njit(cache=True, nogil=True)
def _place(
    offsets: NDArray[np.int32], numbers: NDArray[np.int32], places: NDArray[np.int32]
) -> int:
    """Set where each taken string starts and the last one ends; returns the end.

    It may be beyond what places can hold.
    """
    end = 0
    for k in range(len(numbers)):
        places[k] = np.int32(end)
        end += offsets[numbers[k] + 1] - offsets[numbers[k]]
    places[len(numbers)] = np.int32(end)
    return end


@njit(cache=True, nogil=True)
def _copy(
    offsets: NDArray[np.int32], data: NDArray[np.uint8], numbers: NDArray[np.int32],
    places: NDArray[np.int32], out: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Copy by words; what one writes beyond its end, the next overwrites."""
    for k in range(len(numbers)):
        source, end = offsets[numbers[k]], offsets[numbers[k] + 1]
        target = places[k]
        while source < end:
            store_word(out, target, load_word(data, source))
            source += _WORD
            target += _WORD


class Strings:
    """Strings without nulls, to be taken by number; for short ones quicker than Arrow's take."""

    def __init__(self, strings: pa.StringArray) -> None:
        self._strings = strings
        _, offsets, data = strings.buffers()
        n = len(strings)
        self._offsets = np.zeros(1, np.int32)
        if n:
            self._offsets = np.frombuffer(offsets, np.int32, n + 1, 4 * strings.offset)
        self._offsets = frozen(self._offsets)
        used = int(self._offsets[-1])
        self._data = np.zeros(used + _WORD, np.uint8)
        if used:
            self._data[:used] = np.frombuffer(data, np.uint8, used)

    def take(self, numbers: NDArray[np.int32]) -> pa.StringArray:
        """Return the strings with these numbers."""
        places = np.empty(len(numbers) + 1, np.int32)
        end = _place(self._offsets, numbers, places)
        if end > _LONGEST:
            return self._strings.take(pa.array(numbers))  # raises: one array cannot hold it
        out = np.empty(end + _WORD, np.uint8)
        _copy(self._offsets, self._data, numbers, places, out)
        return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(places), pa.py_buffer(out))
