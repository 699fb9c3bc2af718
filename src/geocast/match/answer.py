"""From lists of numbers to the answer: a table of publications and the ids they concern."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from geocast.match.relate.lists import Lists, sort_range
from geocast.match.strings import Strings
from geocast.model import MATCHES

__all__ = ["Answer", "Source", "complement_pairs", "matches_table", "merge_sources"]

Hits = tuple[NDArray[np.int32], NDArray[np.int32]]
"""(offsets, values): publication i has values[offsets[i]:offsets[i + 1]]."""


@dataclass(frozen=True)
class Answer:
    """What a batch matched, and which of its records could not be used.

    `matches` has the schema MATCHES, in the order of the batch. `rejected` lists (row in the
    batch, id or None, reason).
    """

    matches: pa.Table
    rejected: list[tuple[int, str | None, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Source:
    """Pairs found in one way: publication i has subscription[offsets[i] : offsets[i + 1]]."""

    offsets: NDArray[np.int64]
    subscription: NDArray[np.int32]


@njit(cache=True, nogil=True)
def complement_pairs(
    offsets: NDArray[np.int32], values: NDArray[np.int32], first: int, last: int,
    rows: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:  # fmt: skip
    """Return pairs (publication, row) of publications first:last and the rows they do not hit.

    values are places in `rows`, and say which ones a publication hits.
    """
    hit = np.full(len(rows), -1, np.int64)
    size = (last - first) * len(rows) - (offsets[last] - offsets[first])
    who, what = np.empty(size, np.int32), np.empty(size, np.int32)
    n = 0
    for i in range(first, last):
        for k in range(offsets[i], offsets[i + 1]):
            hit[values[k]] = i
        for r in range(len(rows)):
            if hit[r] != i:
                who[n], what[n] = i, rows[r]
                n += 1
    return who, what


@njit(cache=True, nogil=True)
def _append_source(
    start: NDArray[np.int64], end: NDArray[np.int64], offsets: NDArray[np.int64],
    subscription: NDArray[np.int32], values: NDArray[np.int32],
) -> None:  # fmt: skip
    for i in range(len(start)):
        for k in range(offsets[i], offsets[i + 1]):
            values[end[i]] = subscription[k]
            end[i] += 1


@njit(cache=True, nogil=True)
def _sort_unique(
    start: NDArray[np.int64], end: NDArray[np.int64], values: NDArray[np.int32],
    offsets: NDArray[np.int32],
) -> int:  # fmt: skip
    """Sort each list, drop repeats, and close up the values; returns how many remain."""
    n = 0
    for i in range(len(start)):
        sort_range(values, start[i], end[i])
        for k in range(start[i], end[i]):
            if k == start[i] or values[k] != values[n - 1]:
                values[n] = values[k]
                n += 1
        offsets[i + 1] = n
    return n


def merge_sources(sources: list[Source], publications: int) -> Hits:
    """Join pairs found in several ways: sorted, each subscription once a publication."""
    count = sum((np.diff(s.offsets) for s in sources), np.zeros(publications, np.int64))
    start = np.cumsum(count) - count
    end = start.copy()
    values = np.empty(int(count.sum()), np.int32)
    for source in sources:
        _append_source(start, end, source.offsets, source.subscription, values)
    offsets = np.zeros(publications + 1, np.int32)
    used = _sort_unique(start, end, values, offsets)
    return offsets, values[:used]


def matches_table(
    publications: pa.StringArray, ids: Strings, lists: Lists, values: NDArray[np.int32]
) -> pa.Table:
    """Return the table of matches from a list for each publication; those without are left out."""
    matched = np.flatnonzero(lists.length)
    names = publications if len(matched) == len(publications) else publications.take(matched)
    offsets = np.zeros(len(matched) + 1, np.int32)
    np.cumsum(lists.length[matched], out=offsets[1:])
    concerned = pa.ListArray.from_arrays(pa.array(offsets), ids.take(lists, values))
    return pa.table([names, concerned], schema=MATCHES)
