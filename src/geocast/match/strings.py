"""Ids by number: a column of strings, taken many times over."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from geocast.errors import InputError
from geocast.match.geometry.shapes import frozen
from geocast.match.machine import load_word, prefetch, store_word
from geocast.match.relate.lists import Lists

__all__ = ["Strings"]

_WORD: Final = 8
_LONGEST: Final = (1 << 31) - 1
_SIZE_BITS: Final = 32
_SIZE_MASK: Final = (1 << _SIZE_BITS) - 1
_FAR: Final = 16  # lists ahead whose numbers are fetched
_NEAR: Final = 2  # lists ahead whose strings are fetched
_A_LINE: Final = 16  # numbers
_NO_OFFSETS: Final = np.zeros(1, np.int32)


@njit(cache=True, nogil=True)
def _heads(offsets: NDArray[np.int32], data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return of each string its first word, and its size behind its place in the data."""
    heads = np.empty((len(offsets) - 1, 2), np.int64)
    for k in range(len(heads)):
        at = np.int64(offsets[k])
        heads[k, 0] = np.int64(load_word(data, at))
        heads[k, 1] = (at << _SIZE_BITS) | (offsets[k + 1] - at)
    return heads


@njit(cache=True, nogil=True)
def _total(heads: NDArray[np.int64], lists: Lists, values: NDArray[np.int32]) -> int:
    """Return how many bytes the taken strings have."""
    total = 0
    for i in range(len(lists.start)):
        for k in range(lists.start[i], lists.start[i] + lists.length[i]):
            total += heads[values[k], 1] & _SIZE_MASK
    return total


@njit(cache=True, nogil=True)
def _copy(
    heads: NDArray[np.int64], data: NDArray[np.uint8], lists: Lists, values: NDArray[np.int32],
    places: NDArray[np.int32], out: NDArray[np.uint8],
) -> int:  # fmt: skip
    """Copy by words, and note where each string starts; returns where the last one ends.

    What one writes beyond its end, the next overwrites.
    """
    start, length = lists.start, lists.length
    n, end = 0, 0
    for i in range(len(start)):
        if i + _FAR < len(start):
            prefetch(values, start[i + _FAR])
            prefetch(values, start[i + _FAR] + _A_LINE)
        if i + _NEAR < len(start):
            first = start[i + _NEAR]
            for k in range(first, first + length[i + _NEAR]):
                prefetch(heads, 2 * values[k])
        for k in range(start[i], start[i] + length[i]):
            word, extent = heads[values[k], 0], heads[values[k], 1]
            size = extent & _SIZE_MASK
            places[n] = np.int32(end)
            n += 1
            store_word(out, end, np.uint64(word))
            if size > _WORD:
                source = extent >> _SIZE_BITS
                for more in range(_WORD, size, _WORD):
                    store_word(out, end + more, load_word(data, source + more))
            end += size
    places[n] = np.int32(end)
    return end


class Strings:
    """Strings without nulls, to be taken by number; for short ones quicker than Arrow's take."""

    def __init__(self, strings: pa.StringArray) -> None:
        n = len(strings)
        _, offsets, data = strings.buffers()
        own = np.frombuffer(offsets, np.int32, n + 1, 4 * strings.offset) if n else _NO_OFFSETS
        used = int(own[-1] - own[0])
        content = np.zeros(used + _WORD, np.uint8)
        if used:
            content[:used] = np.frombuffer(data, np.uint8, used, int(own[0]))
        self._offsets, self._data = frozen(own - own[0]), frozen(content)
        self._heads = frozen(_heads(self._offsets, self._data))

    @cached_property
    def _longest(self) -> int:
        return int(np.diff(self._offsets).max(initial=0))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole state as named arrays."""
        return {"offsets": self._offsets, "data": self._data, "heads": self._heads}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the strings whose `arrays` these are, without copying them.

        Where there are no heads, which were not kept at first, they are made.
        """
        strings = cls.__new__(cls)
        strings._offsets, strings._data = frozen(arrays["offsets"]), frozen(arrays["data"])
        if "heads" not in arrays:
            return cls(strings.column)
        strings._heads = frozen(arrays["heads"])
        return strings

    @property
    def column(self) -> pa.StringArray:
        """All strings, in order."""
        offsets, data = pa.py_buffer(self._offsets), pa.py_buffer(self._data)
        return pa.StringArray.from_buffers(len(self), offsets, data)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def take(self, lists: Lists, values: NDArray[np.int32]) -> pa.StringArray:
        """Return the strings with the numbers of these lists, one list after the other."""
        count = int(lists.length.sum())
        room = count * self._longest
        if room > _LONGEST:
            room = _total(self._heads, lists, values)
        if room > _LONGEST:
            raise InputError(f"a batch matches too much: {room:,} bytes of ids; match less at once")
        places = np.empty(count + 1, np.int32)
        out = np.empty(room + _WORD, np.uint8)
        end = _copy(self._heads, self._data, lists, values, places, out)
        data = pa.py_buffer(out[:end])
        return pa.StringArray.from_buffers(count, pa.py_buffer(places), data)
