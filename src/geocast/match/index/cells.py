"""Cell index: a radix trie of square cells that decides most matches without geometry.

**What it is.** The world as a grid of square cells, divided 4 x 4 wherever many edges meet. Each
leaf knows which geometries cover it wholly with their interior, and which edges of which others
pass near it; see `geocast.match.index.trie` for the arrays and `geocast.match.index.frame` for
the grid. Unlike the other members it keeps the geometries' edges and not only their boxes, so the
matcher reads exact answers from it; `query` is its bounds-index side.

**How it is built.** Root cells first, then level by level; a cell is divided while more than
`LEAF_EDGES` edges pass near it (`geocast.match.index.cell_build`). There are two such tries: a
fine one for points, where each edge of a leaf costs, and a coarse one for lines and areas, where
each leaf on the way costs.

**When it is weak.** Very many geometries with boundaries in one spot: leaves at the deepest level
are not divided further, nor is any once the index refers to each vertex many times over, which
bounds its memory. Memory grows with the length of boundaries, not with the number of
geometries alone.

**Where it comes from.** Trie-based point-in-polygon indexes (A. Kipf et al., "Adaptive main-memory
indexing for high-performance point-polygon joins", EDBT 2020), extended by edge runs and
reference parities so that boundary cells are decided exactly, and to lines and points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.errors import InputError
from geocast.match.geometry.shapes import Shapes, frozen
from geocast.match.index.base import BoundsIndex, Boxes, Candidates, boxes_meet, checked, grown
from geocast.match.index.cell_build import Inner, divide, root_level, runs_of_leaves
from geocast.match.index.frame import (
    DEEPEST,
    FAN,
    FAN_BITS,
    ORIGIN,
    QUERY_MARGIN,
    ROOT_LEVEL,
    side,
)
from geocast.match.index.trie import SPILLED, Trie, entry_geometry

__all__ = ["COARSE_LEAF_EDGES", "LEAF_EDGES", "CellIndex", "build_trie"]

LEAF_EDGES: Final = 32
"""A cell with more edges is divided; fewer make points faster and the index larger."""

COARSE_LEAF_EDGES: Final = 96
"""The same for the cells that lines and areas walk through."""

MOST_GEOMETRIES: Final = 1 << 24

_COARSE: Final = "coarse_"
_FRAME: Final = 200.0
_EDGES_A_VERTEX: Final = 16
_SPARE_EDGES: Final = 1 << 21


class CellIndex(BoundsIndex):
    """A trie of cells over geometries; as a bounds index, over their boxes."""

    name = "cells"

    def __init__(self, trie: Trie, coarse: Trie, boxes: Boxes) -> None:
        """Take over the arrays; `boxes` are the bounds of the geometries in the tries."""
        self.trie = Trie(*(frozen(array) for array in trie))
        self.coarse = Trie(*(frozen(array) for array in coarse))
        self._boxes: Boxes = frozen(boxes)

    @classmethod
    def build(cls, bounds: Boxes) -> Self:
        """Index the boxes as if they were the geometries."""
        boxes = checked(bounds, what="indexed", finite=True).copy()
        rank = np.arange(len(boxes), dtype=np.int32)
        return cls._built(_as_shapes(_within_frame(boxes)), boxes, rank)

    @classmethod
    def of(cls, shapes: Shapes, rank: NDArray[np.int32]) -> Self:
        """Index geometries: their edges and interiors.

        The lists of cells have geometries by rank; what a point matches is quickly sorted then.
        """
        return cls._built(shapes, shapes.bounds, rank)

    @classmethod
    def _built(cls, shapes: Shapes, boxes: Boxes, rank: NDArray[np.int32]) -> Self:
        fine, coarse = (build_trie(shapes, most, rank) for most in (LEAF_EDGES, COARSE_LEAF_EDGES))
        return cls(fine, coarse, boxes)

    def query(self, bounds: Boxes) -> Candidates:
        """Return every item whose box meets the query box, once for each query."""
        queries = checked(bounds, what="query", finite=False)
        return _query(self.trie, self._boxes, _within_frame(queries), queries)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole state as flat read-only arrays, each under its name."""
        coarse = {_COARSE + name: array for name, array in self.coarse._asdict().items()}
        return {**self.trie._asdict(), **coarse, "boxes": self._boxes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the index whose `arrays` these are, without copying them."""
        fine, coarse = (
            Trie(*(arrays[prefix + name] for name in Trie._fields)) for prefix in ("", _COARSE)
        )
        return cls(fine, coarse, arrays["boxes"])

    def __len__(self) -> int:
        return len(self._boxes)


def _within_frame(boxes: Boxes) -> Boxes:
    """Move what lies beyond the frame to its rim; boxes that meet still do."""
    return frozen(np.clip(boxes, -_FRAME, _FRAME))


def _as_shapes(boxes: Boxes) -> Shapes:
    """Return the boxes as rings; one without area has no interior, but edges all the same."""
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3, 0, 1]].reshape(-1, 2)
    n = len(boxes)
    steps = np.arange(n + 1, dtype=np.int32)
    dim = np.full(n, 2, np.int8)
    arrays = (corners, steps * 5, steps, steps, dim, boxes)
    return Shapes(*(frozen(a) for a in arrays))


def build_trie(shapes: Shapes, leaf_edges: int, rank: NDArray[np.int32]) -> Trie:
    """Build the trie over geometries; a leaf above the deepest level has at most leaf_edges.

    Inner lists and entries of a cell have geometries by rank.
    """
    if len(shapes.dim) > MOST_GEOMETRIES:
        raise InputError(f"a cell index holds at most {MOST_GEOMETRIES} distinct geometries")
    level, inner = root_level(shapes)
    depth = ROOT_LEVEL
    children = [np.full(1 << (2 * ROOT_LEVEL), -1, np.int32)]
    slots = len(children[0])
    inners, leaves = [inner], []
    most_edges = _EDGES_A_VERTEX * len(shapes.xy) + _SPARE_EDGES
    while len(level.slot):
        edges = level.edge_off[level.cell_off[1:]] - level.edge_off[level.cell_off[:-1]]
        deeper = depth + FAN_BITS <= DEEPEST and len(level.edge) <= most_edges
        split = (edges > leaf_edges) & deeper
        leaves.append(runs_of_leaves(shapes.dim, level, ~split))
        divided = int(split.sum())
        if divided == 0:
            break
        first_child = slots + np.arange(divided, dtype=np.int64) * FAN * FAN
        _set_children(children, level.slot[split], first_child)
        level, inner = divide(shapes, level, depth, split, slots)
        children.append(np.full(divided * FAN * FAN, -1, np.int32))
        slots += divided * FAN * FAN
        inners.append(inner)
        depth += FAN_BITS
    return _assemble(np.concatenate(children), inners, leaves, rank)


def _set_children(
    children: list[NDArray[np.int32]], slots: NDArray[np.int64], first: NDArray[np.int64]
) -> None:
    """Point the divided slots, which stand in the last two levels, at their children."""
    offset = 0
    for level in children:
        own = (slots >= offset) & (slots < offset + len(level))
        level[slots[own] - offset] = first[own]
        offset += len(level)


def _assemble(
    child: NDArray[np.int32],
    inners: list[Inner],
    leaves: Sequence[tuple[NDArray[Any], ...]],
    rank: NDArray[np.int32],
) -> Trie:
    """Sort inner lists and entries by slot and rank, and pack them."""
    inner_slot = np.concatenate([i.slot for i in inners])
    inner = np.concatenate([i.geometry for i in inners])
    inner = inner[np.lexsort((rank[inner], inner_slot))]
    slot, head, off, runs = _concatenate(leaves)
    order = np.lexsort((rank[head >> 8], slot))
    records = np.zeros((len(child) + 1, 4), np.int32)
    records[:-1, 0] = child
    records[-1, 0] = -1
    inner_count = np.bincount(inner_slot, minlength=len(child))
    np.cumsum(inner_count, out=records[1:, 1])
    np.cumsum(np.bincount(slot, minlength=len(child)), out=records[1:, 2])
    records[:-1, 3] = inner_count
    entry, spill_off, spill = _pack(order, head, off, runs)
    return Trie(records, inner, entry, spill_off, spill)


def _concatenate(
    leaves: Sequence[tuple[NDArray[Any], ...]],
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64], NDArray[np.int32]]:
    if not leaves:
        none = np.empty(0, np.int64)
        return none, np.empty(0, np.uint32), np.zeros(1, np.int64), np.empty((0, 2), np.int32)
    slot, head = (np.concatenate([leaf[k] for leaf in leaves]) for k in (0, 1))
    lengths = np.concatenate([np.diff(leaf[2]) for leaf in leaves])
    off = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return slot, head, off, np.concatenate([leaf[3] for leaf in leaves])


def _pack(
    order: NDArray[np.int64],
    head: NDArray[np.uint32],
    off: NDArray[np.int64],
    runs: NDArray[np.int32],
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32]]:
    """Bring entries into order, one run in place, several or long ones in the spill."""
    count = np.diff(off)
    length = np.zeros(len(head), np.int64)
    single = count == 1
    length[single] = runs[off[:-1][single], 1]
    spilled = (count > 1) | (length >= SPILLED)
    entry = np.zeros((len(head), 2), np.uint32)
    entry[:, 0] = head | (np.where(spilled, SPILLED, length) << 2).astype(np.uint32)
    entry[single, 1] = runs[off[:-1][single], 0]
    entry = entry[order]
    spills = order[spilled[order]]
    entry[spilled[order], 1] = np.arange(len(spills))
    lengths = count[spills]
    spill_off = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    source = np.repeat(off[:-1][spills] - spill_off[:-1], lengths) + np.arange(spill_off[-1])
    return entry, spill_off, runs[source]


@njit(cache=True)
def _query(trie: Trie, boxes: Boxes, clipped: Boxes, queries: Boxes) -> Candidates:
    """Walk down every cell near the query box; a stamp keeps an item from being listed twice."""
    offsets = np.zeros(len(queries) + 1, np.int64)
    items = np.empty(1024, np.int32)
    stamp = np.full(len(boxes), -1, np.int64)
    stack = np.empty((4096, 4), np.int64)
    n = 0
    for q in range(len(queries)):
        h = side(ROOT_LEVEL)
        i0 = int((clipped[q, 0] - QUERY_MARGIN - ORIGIN) / h)
        j0 = int((clipped[q, 1] - QUERY_MARGIN - ORIGIN) / h)
        i1 = int((clipped[q, 2] + QUERY_MARGIN - ORIGIN) / h)
        j1 = int((clipped[q, 3] + QUERY_MARGIN - ORIGIN) / h)
        for j in range(j0, j1 + 1):
            for i in range(i0, i1 + 1):
                stack[0] = (j * (1 << ROOT_LEVEL) + i, i, j, ROOT_LEVEL)
                depth = 1
                while depth > 0:
                    depth -= 1
                    slot, column, row, level = stack[depth]
                    h = side(level)
                    x, y = ORIGIN + column * h, ORIGIN + row * h
                    if x > clipped[q, 2] + QUERY_MARGIN or x + h < clipped[q, 0] - QUERY_MARGIN:
                        continue
                    if y > clipped[q, 3] + QUERY_MARGIN or y + h < clipped[q, 1] - QUERY_MARGIN:
                        continue
                    while n + _width(trie, slot) > len(items):
                        items = grown(items)
                    n = _list_slot(trie, boxes, queries, q, slot, stamp, items, n)
                    child = trie.slot[slot, 0]
                    if child >= 0:
                        for k in range(FAN * FAN):
                            stack[depth, 0] = child + k
                            stack[depth, 1] = column * FAN + k % FAN
                            stack[depth, 2] = row * FAN + k // FAN
                            stack[depth, 3] = level + FAN_BITS
                            depth += 1
        offsets[q + 1] = n
    return offsets, items[:n].copy()


@njit(cache=True, inline="always")
def _width(trie: Trie, slot: int) -> int:
    return trie.slot[slot, 3] + trie.slot[slot + 1, 2] - trie.slot[slot, 2]


@njit(cache=True)
def _list_slot(
    trie: Trie, boxes: Boxes, queries: Boxes, q: int, slot: int,
    stamp: NDArray[np.int64], items: NDArray[np.int32], n: int,
) -> int:  # fmt: skip
    """Append the slot's geometries that meet query q and were not listed for it yet."""
    inner = trie.slot[slot, 1]
    for k in range(inner, inner + trie.slot[slot, 3]):
        n = _list_one(boxes, queries, q, trie.inner[k], stamp, items, n)
    for t in range(trie.slot[slot, 2], trie.slot[slot + 1, 2]):
        n = _list_one(boxes, queries, q, entry_geometry(trie, t), stamp, items, n)
    return n


@njit(cache=True)
def _list_one(
    boxes: Boxes, queries: Boxes, q: int, g: int,
    stamp: NDArray[np.int64], items: NDArray[np.int32], n: int,
) -> int:  # fmt: skip
    if stamp[g] != q and boxes_meet(boxes, g, queries, q):
        stamp[g] = q
        items[n] = g
        n += 1
    return n
