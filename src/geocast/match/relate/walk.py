"""Walking a publication's edges through the cells.

For every leaf that an edge of the publication comes near, each candidate either covers the leaf
(its interior is the whole of it), shares it (has edges there), or is absent (the leaf lies in its
exterior). These counts alone decide most candidates; for the rest the links lead to the few edges
that may meet.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.frame import (
    DEEPEST,
    FAN,
    FAN_BITS,
    ORIGIN,
    QUERY_MARGIN,
    ROOT_LEVEL,
    SPAN,
    segment_meets_box,
    side,
)
from geocast.match.index.trie import Trie, entry_geometry
from geocast.match.relate.work import Leaf, Work

__all__ = ["OVERFLOW", "sample_vertices", "walk"]

OVERFLOW: Final = -1

_CHILDREN: Final = FAN * FAN
_SINGLE: Final = 1 << 31  # a mask that names one child by number instead of by bit
_FIRST: Final = Leaf.FIRST
_LAST: Final = Leaf.LAST
_LEVEL: Final = Leaf.LEVEL
_COLUMN: Final = Leaf.COLUMN
_ROW: Final = Leaf.ROW


@njit(cache=True, inline="always")
def sample_vertices(trie: Trie, pub: Shapes, q: int, samples: int, work: Work) -> int:
    """Count for a few vertices which candidates cover or share their leaves; returns how many.

    A candidate that covers one vertex's leaf and is absent from another's is crossed by the
    boundary: most overlaps are found here, before any walk.
    """
    first, last = path_range(pub, q)
    v0, v1 = pub.path_off[first], pub.path_off[last]
    step = max(1, (v1 - v0) // samples)
    scale = (1 << DEEPEST) / SPAN
    n = 0
    for v in range(v0, v1, step):
        ix, iy = int((pub.xy[v, 0] - ORIGIN) * scale), int((pub.xy[v, 1] - ORIGIN) * scale)
        shift = DEEPEST - ROOT_LEVEL
        slot = ((iy >> shift) << ROOT_LEVEL) | (ix >> shift)
        while True:
            _count_covered(trie, slot, 1, work)
            child = trie.slot[slot, 0]
            if child < 0:
                break
            shift -= FAN_BITS
            slot = child + ((((iy >> shift) & (FAN - 1)) << FAN_BITS) | ((ix >> shift) & (FAN - 1)))
        for t in range(trie.slot[slot, 2], trie.slot[slot + 1, 2]):
            g = entry_geometry(trie, t)
            if work.active[g]:
                work.shared[work.position[g]] += 1
        n += 1
    return n


@njit(cache=True, inline="always")
def _count_covered(trie: Trie, slot: int, leaves: int, work: Work) -> None:
    first = trie.slot[slot, 1]
    for k in range(first, first + trie.slot[slot, 3]):
        g = trie.inner[k]
        if work.active[g]:
            work.covered[work.position[g]] += leaves


@njit(cache=True, inline="always")
def _deepest_cells(bounds: NDArray[np.float64], q: int) -> tuple[int, int, int, int]:
    """Return the deepest-level cells that the corners of a box come near."""
    scale = (1 << DEEPEST) / SPAN
    return (
        int((bounds[q, 0] - QUERY_MARGIN - ORIGIN) * scale),
        int((bounds[q, 1] - QUERY_MARGIN - ORIGIN) * scale),
        int((bounds[q, 2] + QUERY_MARGIN - ORIGIN) * scale),
        int((bounds[q, 3] + QUERY_MARGIN - ORIGIN) * scale),
    )


@njit(cache=True, inline="always")
def _edge_boxes(
    xy: NDArray[np.float64], edge: NDArray[np.int32], edges: int, v0: int,
    edge_box: NDArray[np.int32],
) -> None:  # fmt: skip
    """Set the deepest-level cells that each edge's box comes near."""
    scale = (1 << DEEPEST) / SPAN
    for m in range(edges):
        v = edge[m]
        ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
        k = v - v0
        edge_box[k, 0] = int((min(ax, bx) - QUERY_MARGIN - ORIGIN) * scale)
        edge_box[k, 1] = int((min(ay, by) - QUERY_MARGIN - ORIGIN) * scale)
        edge_box[k, 2] = int((max(ax, bx) + QUERY_MARGIN - ORIGIN) * scale)
        edge_box[k, 3] = int((max(ay, by) + QUERY_MARGIN - ORIGIN) * scale)


@njit(cache=True, inline="always")
def _push(
    stack: NDArray[np.int64], n: int, slot: int, column: int, row: int, level: int, lo: int, hi: int
) -> int:
    stack[n, 0], stack[n, 1], stack[n, 2], stack[n, 3] = slot, column, row, level
    stack[n, 4], stack[n, 5], stack[n, 6] = lo, hi, -1
    return n + 1


@njit(cache=True, inline="always")
def _root_pass(
    xy: NDArray[np.float64], edges: int, v0: int, i0: int, j0: int, w: int, fill: bool, work: Work
) -> None:
    """Count the edges near each root cell of the window, or write them into the arena."""
    h = side(ROOT_LEVEL)
    half = h * 0.5 + QUERY_MARGIN
    shift = DEEPEST - ROOT_LEVEL
    for m in range(edges):
        v = work.edge[m]
        k = v - v0
        c0, r0 = work.edge_box[k, 0] >> shift, work.edge_box[k, 1] >> shift
        c1, r1 = work.edge_box[k, 2] >> shift, work.edge_box[k, 3] >> shift
        alone = c0 == c1 and r0 == r1
        for j in range(r0, r1 + 1):
            for i in range(c0, c1 + 1):
                if not alone and not segment_meets_box(
                    xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1],
                    ORIGIN + (i + 0.5) * h, ORIGIN + (j + 0.5) * h, half,
                ):  # fmt: skip
                    continue
                c = (j - j0) * w + (i - i0)
                if fill:
                    work.arena[work.near[c]] = v
                work.near[c] += 1


@njit(cache=True, inline="always")
def _start(pub: Shapes, q: int, edges: int, v0: int, work: Work) -> tuple[int, int]:
    """Put the root cells near the edges on the stack: (stack size, arena used)."""
    h = side(ROOT_LEVEL)
    box = pub.bounds[q]
    i0 = int((box[0] - QUERY_MARGIN - ORIGIN) / h)
    j0 = int((box[1] - QUERY_MARGIN - ORIGIN) / h)
    w = int((box[2] + QUERY_MARGIN - ORIGIN) / h) - i0 + 1
    cells = w * (int((box[3] + QUERY_MARGIN - ORIGIN) / h) - j0 + 1)
    across = 1 << ROOT_LEVEL
    used = n = 0
    if edges > len(work.arena):
        return OVERFLOW, 0
    if cells == 1:
        for used in range(edges):
            work.arena[used] = work.edge[used]
        used = edges
        return _push(work.stack, 0, j0 * across + i0, i0, j0, ROOT_LEVEL, 0, used), used
    work.near[:cells] = 0
    _root_pass(pub.xy, edges, v0, i0, j0, w, False, work)
    for c in range(cells):
        count = work.near[c]
        work.near[c] = used
        if count > 0:
            i, j = i0 + c % w, j0 + c // w
            n = _push(work.stack, n, j * across + i, i, j, ROOT_LEVEL, used, used + count)
        used += count
    if used > len(work.arena):
        return OVERFLOW, 0
    _root_pass(pub.xy, edges, v0, i0, j0, w, True, work)
    return n, used


@njit(cache=True, inline="always")
def _child_masks(
    xy: NDArray[np.float64], v0: int, lo: int, hi: int, column: int, row: int, level: int,
    work: Work, count: NDArray[np.int64],
) -> None:  # fmt: skip
    """Say for every edge of a cell which children it comes near, and count by child."""
    h = side(level + FAN_BITS)
    half = h * 0.5 + QUERY_MARGIN
    shift = DEEPEST - level - FAN_BITS
    base_c, base_r = column << FAN_BITS, row << FAN_BITS
    x0, y0 = ORIGIN + base_c * h, ORIGIN + base_r * h
    count[:] = 0
    for k in range(lo, hi):
        v = work.arena[k]
        e = v - v0
        c0 = max(0, (work.edge_box[e, 0] >> shift) - base_c)
        r0 = max(0, (work.edge_box[e, 1] >> shift) - base_r)
        c1 = min(FAN - 1, (work.edge_box[e, 2] >> shift) - base_c)
        r1 = min(FAN - 1, (work.edge_box[e, 3] >> shift) - base_r)
        if c0 == c1 and r0 == r1:
            child = (r0 << FAN_BITS) + c0
            work.child_mask[k - lo] = _SINGLE | child
            count[child] += 1
            continue
        mask = 0
        ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
        for j in range(r0, r1 + 1):
            for i in range(c0, c1 + 1):
                if segment_meets_box(ax, ay, bx, by, x0 + (i + 0.5) * h, y0 + (j + 0.5) * h, half):
                    child = (j << FAN_BITS) + i
                    mask |= 1 << child
                    count[child] += 1
        work.child_mask[k - lo] = mask


@njit(cache=True, inline="always")
def _distribute(lo: int, hi: int, count: NDArray[np.int64], work: Work) -> None:
    """Copy each edge of arena[lo:hi] to its children; count holds where each child's list ends."""
    for k in range(lo, hi):
        bits = np.int64(work.child_mask[k - lo])
        if bits & _SINGLE:
            only = bits & (_CHILDREN - 1)
            work.arena[count[only]] = work.arena[k]
            count[only] += 1
            continue
        child = 0
        while bits:
            if bits & 1:
                work.arena[count[child]] = work.arena[k]
                count[child] += 1
            bits >>= 1
            child += 1


@njit(cache=True, inline="always")
def _visit_leaf(
    trie: Trie, slot: int, column: int, row: int, level: int, lo: int, hi: int,
    leaves: int, links: int, work: Work,
) -> int:  # fmt: skip
    """Note the leaf, and link to it the candidates that have entries there; returns links."""
    _count_covered(trie, slot, 1, work)
    for t in range(trie.slot[slot, 2], trie.slot[slot + 1, 2]):
        g = entry_geometry(trie, t)
        if work.active[g]:
            u = work.position[g]
            work.shared[u] += 1
            work.link_next[links] = work.head[u]
            work.link_leaf[links] = leaves
            work.link_entry[links] = t
            work.head[u] = links
            links += 1
    work.leaf[leaves, _FIRST], work.leaf[leaves, _LAST] = lo, hi
    work.leaf[leaves, _LEVEL] = level
    work.leaf[leaves, _COLUMN], work.leaf[leaves, _ROW] = column, row
    return links


@njit(cache=True, inline="always")
def _one_child(x0: int, y0: int, x1: int, y1: int, level: int) -> int:
    """Return the only child of a cell that a box, in deepest-level cells, comes near; else -1."""
    shift = DEEPEST - level - FAN_BITS
    if x0 >> shift != x1 >> shift or y0 >> shift != y1 >> shift:
        return -1
    return (((y0 >> shift) & (FAN - 1)) << FAN_BITS) | ((x0 >> shift) & (FAN - 1))


@njit(cache=True, inline="always")
def walk(trie: Trie, pub: Shapes, q: int, edges: int, work: Work, count: NDArray[np.int64]) -> int:
    """Visit every leaf near the listed edges of publication q; returns their number, or OVERFLOW.

    An inner cell that candidates cover stays on the stack below its children, so that their
    counts grow by the number of leaves met below it.
    """
    v0 = pub.path_off[path_range(pub, q)[0]]
    _edge_boxes(pub.xy, work.edge, edges, v0, work.edge_box)
    x0, y0, x1, y1 = _deepest_cells(pub.bounds, q)
    depth, used = _start(pub, q, edges, v0, work)
    leaves = links = 0
    while depth > 0:
        depth -= 1
        slot, column = work.stack[depth, 0], work.stack[depth, 1]
        row, level = work.stack[depth, 2], work.stack[depth, 3]
        lo, hi, before = work.stack[depth, 4], work.stack[depth, 5], work.stack[depth, 6]
        if before >= 0:
            _count_covered(trie, slot, leaves - before, work)
            continue
        child = trie.slot[slot, 0]
        if child < 0:
            width = trie.slot[slot + 1, 2] - trie.slot[slot, 2]
            if leaves >= len(work.leaf) or links + width > len(work.link_next):
                return OVERFLOW
            links = _visit_leaf(trie, slot, column, row, level, lo, hi, leaves, links, work)
            leaves += 1
            continue
        if trie.slot[slot, 3] > 0:
            work.stack[depth, 6] = leaves
            depth += 1
        alone = _one_child(x0, y0, x1, y1, level)
        if alone >= 0:
            i, j = column * FAN + (alone & (FAN - 1)), row * FAN + (alone >> FAN_BITS)
            depth = _push(work.stack, depth, child + alone, i, j, level + FAN_BITS, lo, hi)
            continue
        _child_masks(pub.xy, v0, lo, hi, column, row, level, work, count)
        if used + count.sum() > len(work.arena) or depth + _CHILDREN > len(work.stack):
            return OVERFLOW
        for k in range(_CHILDREN):
            if count[k] > 0:
                i, j = column * FAN + (k & (FAN - 1)), row * FAN + (k >> FAN_BITS)
                depth = _push(
                    work.stack, depth, child + k, i, j, level + FAN_BITS, used, used + count[k]
                )
                used, count[k] = used + count[k], used
        _distribute(lo, hi, count, work)
    return leaves if depth == 0 else OVERFLOW
