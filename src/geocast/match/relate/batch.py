"""Relating a batch of lines and areas to their candidates.

For each publication of more than a few edges: its picture decides what lies clear of its edges; a
few of its vertices, looked up in the cells, decide most overlaps. Of two areas the edges are
compared next, which is enough where they cross or stay apart. For what is left the edges that
matter walk through the cells, and the facts found there decide (`geocast.match.relate.decide`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.decode import Care
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import Trie
from geocast.match.predicate.relation import DOUBT, PENDING
from geocast.match.relate.decide import decide
from geocast.match.relate.edges import decide_by_edges
from geocast.match.relate.facts import decide_by_picture, decide_by_samples, is_one_piece, is_solid
from geocast.match.relate.raster import draw, edges_near, want
from geocast.match.relate.strips import forget_strips
from geocast.match.relate.walk import OVERFLOW, sample_vertices, walk
from geocast.match.relate.work import Work

__all__ = ["relate_batch"]

_FRAIL: Final = Care.FRAIL
_SAMPLES: Final = 4
"""Vertices looked up before edges are compared; 3 to 12 differ by a tenth."""


@njit(cache=True, inline="always")
def _activate(
    items: NDArray[np.int32], lo: int, hi: int, relation: NDArray[np.uint16], work: Work
) -> None:
    """Let the walk count for the candidates that are still open."""
    for k in range(lo, hi):
        if relation[k] == PENDING:
            g, u = items[k], k - lo
            work.active[g] = 1
            work.position[g] = u
            work.covered[u] = 0
            work.shared[u] = 0
            work.head[u] = -1


@njit(cache=True, inline="always")
def _deactivate(items: NDArray[np.int32], lo: int, hi: int, work: Work) -> None:
    for k in range(lo, hi):
        work.active[items[k]] = 0


@njit(cache=True, inline="always")
def _all_edges(pub: Shapes, q: int, edge: NDArray[np.int32]) -> int:
    """List all edges of q, by their first vertices; returns how many."""
    first, last = path_range(pub, q)
    n = 0
    for path in range(first, last):
        for v in range(pub.path_off[path], pub.path_off[path + 1] - 1):
            edge[n] = v
            n += 1
    return n


@njit(cache=True, inline="always")
def _edges_that_matter(
    pub: Shapes, q: int, bounds: NDArray[np.float64], items: NDArray[np.int32], lo: int, hi: int,
    relation: NDArray[np.uint16], work: Work,
) -> int:  # fmt: skip
    """List the edges of q near the boxes of open candidates, in work.edge; returns how many."""
    work.wanted[:] = 0
    for k in range(lo, hi):
        g = items[k]
        if relation[k] == PENDING:
            want(work.frame, work.wanted, bounds[g, 0], bounds[g, 1], bounds[g, 2], bounds[g, 3])
        else:
            work.active[g] = 0
    first, last = path_range(pub, q)
    return edges_near(pub.xy, pub.path_off, first, last, work.frame, work.wanted, work.edge)


@njit(cache=True, nogil=True, _nrt=False)
def relate_batch(
    fine: Trie, coarse: Trie, sub: Shapes, sub_care: NDArray[np.uint8], blocks: NDArray[np.float64],
    pub: Shapes, pub_care: NDArray[np.uint8],
    order: NDArray[np.int64], offsets: NDArray[np.int64], items: NDArray[np.int32],
    asked: NDArray[np.uint16], work: Work, relation: NDArray[np.uint16],
) -> None:  # fmt: skip
    """Set relation[k] for every candidate items[offsets[q]:offsets[q + 1]] of publication q.

    The relation is right for the predicates asked[k], and claims no other that does not hold; or
    it is DOUBT. `blocks` are the boxes of blocks of sub's vertices. Vertices are looked up in the
    fine cells, edges walk through the coarse ones. `sub_care` and `pub_care` say how much care
    geometries want; see `Care`.
    """
    work.vertex_mark[:] = 0
    work.edge_mark[:] = 0
    work.other_vertex[:] = 0
    work.other_edge[:] = 0
    count = work.child_count
    pair = 0
    for q in order:
        lo, hi = offsets[q], offsets[q + 1]
        if lo == hi:
            continue
        if pub_care[q] == _FRAIL:
            relation[lo:hi] = DOUBT
            continue
        first, last = path_range(pub, q)
        drawn = draw(
            pub.xy, pub.path_off, first, last, pub.bounds[q], pub.dim[q] == 2,
            work.frame, work.rim, work.inside,
        )  # fmt: skip
        still_open = decide_by_picture(
            sub, blocks, pub.dim[q], is_solid(pub, q), pub.bounds[q], items, lo, hi, asked,
            drawn, work.frame, work.rim, work.inside, work.facts, relation,
        )  # fmt: skip
        if still_open == 0:
            continue
        forget_strips(work)
        _activate(items, lo, hi, relation, work)
        if drawn:
            samples = sample_vertices(fine, pub, q, _SAMPLES, work)
            still_open = decide_by_samples(
                sub.dim, pub.dim[q], is_solid(pub, q), is_one_piece(pub, q), items, lo, hi, asked,
                samples, work.covered, work.shared, work.facts, relation,
            )  # fmt: skip
            if still_open > 0 and pub.dim[q] == 2 and pub_care[q] == 0:
                still_open = decide_by_edges(
                    pub, q, sub, sub_care, blocks, items, lo, hi, work, relation
                )
            if still_open == 0:
                _deactivate(items, lo, hi, work)
                continue
            edges = _edges_that_matter(pub, q, sub.bounds, items, lo, hi, relation, work)
        else:
            edges = _all_edges(pub, q, work.edge)
        leaves = walk(coarse, pub, q, edges, work, count)
        if leaves != OVERFLOW and edges < pub.path_off[last] - pub.path_off[first] - last + first:
            leaves += 1  # the other edges, outside every open candidate
        for k in range(lo, hi):
            g = items[k]
            work.active[g] = 0
            if relation[k] != PENDING:
                continue
            if leaves == OVERFLOW or sub_care[g] == _FRAIL:
                relation[k] = DOUBT
                continue
            pair += 1
            touchy = pub_care[q] != 0 or sub_care[g] != 0
            relation[k] = decide(
                coarse, pub, q, sub, g, k - lo, asked[k], leaves, touchy, pair, work
            )
