"""What recurring geometries matched before: WKB bytes to finished lists.

Fleets report from the same districts, alert services publish the same outlines. A geometry that
was matched once against these subscriptions is never matched again. Keys are compared byte by
byte, so the answer is exact. The cache is emptied when it has grown beyond its limit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.wkb import WkbColumn
from geocast.match.relate.lists import Lists

__all__ = ["ListCache"]

_MOST_BYTES: Final = 256 << 20
_MOST_VALUES: Final = 64 << 20
_EMPTY: Final = -1


class ListCache:
    """Finished lists by geometry, for each of several parts."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._table = np.full(1 << 10, _EMPTY, np.int32)
        self._hash = np.empty(256, np.uint64)
        self._end = np.zeros(257, np.int64)
        self._bytes = np.empty(1 << 16, np.uint8)
        self._count = 0
        parts = range(self._parts)
        self._lists = [Lists(np.empty(256, np.int64), np.empty(256, np.int32)) for _ in parts]
        self._values = [np.empty(1 << 10, np.int32) for _ in parts]
        self._used = [0] * self._parts
        self.reasons: dict[int, str] = {}

    def lookup(
        self, column: WkbColumn, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the entry of each row's geometry, and the rows (as positions) that made new ones.

        Lists of new entries must be stored before they are read.
        """
        entries = np.empty(len(rows), np.int32)
        hashes = np.empty(len(rows), np.uint64)
        known = (self._table, self._hash, self._end, self._bytes)
        size = _find(column, rows, *known, entries, hashes)
        if self._is_full(size):
            self.clear()
            entries[:] = _EMPTY
            size = int((column.offsets[rows + 1] - column.offsets[rows]).sum())
        fresh = np.empty(len(rows), np.int64)
        before = self._count
        missing = int((entries == _EMPTY).sum())
        if missing:
            self._make_room(missing, size)
            known = (self._table, self._hash, self._end, self._bytes)
            self._count = _add(column, rows, *known, before, entries, hashes, fresh)
        return entries, fresh[: self._count - before]

    def _is_full(self, more: int) -> bool:
        kept = int(self._end[self._count])
        return more > 0 and (kept + more > _MOST_BYTES or max(self._used) > _MOST_VALUES)

    def _make_room(self, entries: int, size: int) -> None:
        self._hash = _resized(self._hash, self._count + entries)
        self._end = _resized(self._end, self._count + entries + 1)
        self._bytes = _resized(self._bytes, int(self._end[self._count]) + size)
        while len(self._table) < 2 * (self._count + entries):
            self._table = np.full(2 * len(self._table), _EMPTY, np.int32)
            _rehash(self._table, self._hash, self._count)
        for part, lists in enumerate(self._lists):
            if len(lists.start) < self._count + entries:
                self._lists[part] = Lists(
                    _resized(lists.start, self._count + entries),
                    _resized(lists.length, self._count + entries),
                )

    def store(
        self, part: int, entries: NDArray[np.int32], lists: Lists, values: NDArray[np.int32]
    ) -> None:
        """Keep the lists of new entries."""
        used = self._used[part]
        self._values[part] = _resized(self._values[part], used + len(values))
        self._values[part][used : used + len(values)] = values
        self._lists[part].start[entries] = lists.start + used
        self._lists[part].length[entries] = lists.length
        self._used[part] = used + len(values)

    def lists(
        self, part: int, entries: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return starts, lengths and values of these entries' lists."""
        lists = self._lists[part]
        return lists.start[entries], lists.length[entries], self._values[part]


def _resized(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the array, or a copy of at least that size."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def _hash_bytes(data: NDArray[np.uint8], a: int, b: int) -> np.uint64:
    """Mix eight bytes at a time in four independent lanes."""
    m = np.uint64(0x9E3779B97F4A7C15)
    words = (b - a) // 8
    w = data[a : a + words * 8].view(np.uint64)
    h0, h1 = np.uint64(b - a), np.uint64(0x243F6A8885A308D3)
    h2, h3 = np.uint64(0x13198A2E03707344), np.uint64(0xA4093822299F31D0)
    k = 0
    while k + 4 <= words:
        h0 = (h0 ^ w[k]) * m
        h1 = (h1 ^ w[k + 1]) * m
        h2 = (h2 ^ w[k + 2]) * m
        h3 = (h3 ^ w[k + 3]) * m
        h0 ^= h0 >> np.uint64(32)
        h1 ^= h1 >> np.uint64(32)
        h2 ^= h2 >> np.uint64(32)
        h3 ^= h3 >> np.uint64(32)
        k += 4
    while k < words:
        h0 = (h0 ^ w[k]) * m
        h0 ^= h0 >> np.uint64(29)
        k += 1
    for j in range(a + words * 8, b):
        h1 = (h1 ^ np.uint64(data[j])) * m
    h = (h0 ^ (h1 * m)) * m
    h = ((h ^ (h >> np.uint64(31))) ^ (h2 * m)) * m
    h = ((h ^ (h >> np.uint64(31))) ^ (h3 * m)) * m
    return h ^ (h >> np.uint64(32))


@njit(cache=True)
def _rehash(table: NDArray[np.int32], hashes: NDArray[np.uint64], count: int) -> None:
    mask = np.uint64(len(table) - 1)
    for entry in range(count):
        slot = hashes[entry] & mask
        while table[slot] != _EMPTY:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = entry


@njit(cache=True)
def _same(data: NDArray[np.uint8], a: int, b: int, kept: NDArray[np.uint8], c: int, d: int) -> bool:
    if b - a != d - c:
        return False
    words = (b - a) // 8
    x, y = data[a : a + words * 8].view(np.uint64), kept[c : c + words * 8].view(np.uint64)
    different = np.uint64(0)
    for k in range(words):
        different |= x[k] ^ y[k]
    for k in range(words * 8, b - a):
        different |= np.uint64(data[a + k] ^ kept[c + k])
    return different == 0


@njit(cache=True)
def _probe(
    column: WkbColumn, a: int, b: int, h: np.uint64, table: NDArray[np.int32],
    hashes: NDArray[np.uint64], end: NDArray[np.int64], kept: NDArray[np.uint8],
) -> np.int64:  # fmt: skip
    """Return the slot that holds these bytes, or the empty one where they belong."""
    mask = np.uint64(len(table) - 1)
    slot = h & mask
    while True:
        entry = table[slot]
        if entry == _EMPTY or (
            hashes[entry] == h and _same(column.data, a, b, kept, end[entry], end[entry + 1])
        ):
            return np.int64(slot)
        slot = (slot + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def _find(
    column: WkbColumn, rows: NDArray[np.int64], table: NDArray[np.int32],
    hashes: NDArray[np.uint64], end: NDArray[np.int64], kept: NDArray[np.uint8],
    entries: NDArray[np.int32], own_hashes: NDArray[np.uint64],
) -> int:  # fmt: skip
    """Set the entry of each row, _EMPTY where it is not known; returns the bytes of those."""
    missing = 0
    for k in range(len(rows)):
        a, b = column.offsets[rows[k]], column.offsets[rows[k] + 1]
        h = _hash_bytes(column.data, a, b)
        own_hashes[k] = h
        entries[k] = table[_probe(column, a, b, h, table, hashes, end, kept)]
        if entries[k] == _EMPTY:
            missing += b - a
    return missing


@njit(cache=True, nogil=True)
def _add(
    column: WkbColumn, rows: NDArray[np.int64], table: NDArray[np.int32],
    hashes: NDArray[np.uint64], end: NDArray[np.int64], kept: NDArray[np.uint8], count: int,
    entries: NDArray[np.int32], own_hashes: NDArray[np.uint64], fresh: NDArray[np.int64],
) -> int:  # fmt: skip
    """Add the rows that are not known, each different one once; returns the number of entries.

    end[e] is where the bytes of entry e start.
    """
    new = 0
    for k in range(len(rows)):
        if entries[k] != _EMPTY:
            continue
        a, b = column.offsets[rows[k]], column.offsets[rows[k] + 1]
        slot = _probe(column, a, b, own_hashes[k], table, hashes, end, kept)
        if table[slot] == _EMPTY:
            table[slot] = count
            hashes[count] = own_hashes[k]
            kept[end[count] : end[count] + b - a] = column.data[a:b]
            end[count + 1] = end[count] + b - a
            count += 1
            fresh[new] = k
            new += 1
        entries[k] = table[slot]
    return count
