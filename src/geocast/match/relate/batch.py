"""Relating a batch of lines and areas to their candidates."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.decode import Care
from geocast.match.geometry.shapes import Shapes
from geocast.match.index.trie import Trie
from geocast.match.predicate.relation import (
    CROSSES,
    DOUBT,
    INTERSECTS_ONLY,
    OVERLAPS,
    PENDING,
)
from geocast.match.relate.decide import NEEDS_OUTSIDE, decide
from geocast.match.relate.strips import forget_strips
from geocast.match.relate.walk import OVERFLOW, sample_vertices, walk
from geocast.match.relate.work import Work

__all__ = ["relate_batch"]

_FRAIL: Final = Care.FRAIL
_SAMPLES: Final = 12
"""Vertices looked up before the walk; 8 to 16 differ little."""


@njit(cache=True, inline="always")
def _activate(
    items: NDArray[np.int32], lo: int, hi: int, relation: NDArray[np.uint16], work: Work
) -> None:
    for k in range(lo, hi):
        g, u = items[k], k - lo
        work.active[g] = 1
        work.position[g] = u
        work.covered[u] = 0
        work.shared[u] = 0
        work.head[u] = -1
        relation[k] = PENDING


@njit(cache=True, inline="always")
def _decide_by_samples(
    pub: Shapes, q: int, sub: Shapes, items: NDArray[np.int32], lo: int, hi: int,
    need: NDArray[np.uint16], possible: NDArray[np.uint16], samples: int,
    relation: NDArray[np.uint16], work: Work,
) -> int:  # fmt: skip
    """Decide what the sampled vertices prove; returns how many candidates stay open."""
    still_open = 0
    through = OVERLAPS if pub.dim[q] == 2 else CROSSES
    for k in range(lo, hi):
        g, u = items[k], k - lo
        if work.covered[u] > 0:
            if work.covered[u] + work.shared[u] < samples:
                relation[k] = through
            elif need[g] & possible[pub.dim[q], sub.dim[g]] & NEEDS_OUTSIDE == 0:
                relation[k] = INTERSECTS_ONLY
        if relation[k] == PENDING:
            still_open += 1
            work.covered[u] = 0
            work.shared[u] = 0
        else:
            work.active[g] = 0
    return still_open


@njit(cache=True, nogil=True)
def relate_batch(
    trie: Trie, sub: Shapes, sub_care: NDArray[np.uint8], need: NDArray[np.uint16],
    possible: NDArray[np.uint16], pub: Shapes, pub_care: NDArray[np.uint8],
    order: NDArray[np.int64], offsets: NDArray[np.int64], items: NDArray[np.int32], work: Work,
    relation: NDArray[np.uint16],
) -> None:  # fmt: skip
    """Set relation[k] for every candidate items[offsets[q]:offsets[q + 1]] of publication q.

    `need` says which predicates stand on a geometry; the relation is right for those, or DOUBT.
    `sub_care` and `pub_care` say how much care geometries want; see `Care`.
    """
    work.vertex_mark[:] = 0
    work.edge_mark[:] = 0
    work.other_vertex[:] = 0
    work.other_edge[:] = 0
    count = np.zeros(16, np.int64)
    pair = 0
    for q in order:
        lo, hi = offsets[q], offsets[q + 1]
        if lo == hi:
            continue
        if pub_care[q] == _FRAIL:
            relation[lo:hi] = DOUBT
            continue
        _activate(items, lo, hi, relation, work)
        samples = sample_vertices(trie, pub, q, _SAMPLES, work)
        still_open = _decide_by_samples(
            pub, q, sub, items, lo, hi, need, possible, samples, relation, work
        )
        leaves = walk(trie, pub, q, work, count) if still_open > 0 else 0
        forget_strips(work)
        for k in range(lo, hi):
            g = items[k]
            work.active[g] = 0
            if relation[k] != PENDING:
                continue
            if leaves == OVERFLOW or sub_care[g] == _FRAIL:
                relation[k] = DOUBT
                continue
            pair += 1
            asked = need[g] & possible[pub.dim[q], sub.dim[g]]
            touchy = pub_care[q] != 0 or sub_care[g] != 0
            relation[k] = decide(trie, pub, q, sub, g, k - lo, asked, leaves, touchy, pair, work)
