"""Quadtree: space is quartered until few items are left in a quarter.

**What it is.** A tree over the extent of the items, whose nodes halve it in both axes, again
and again. Each item stands in one node only: it goes down towards its centre, and stops at a
node that has few items, or whose quarters are smaller than the item in either axis. Large
items thus stay near the root, and small ones go down deep even where they lie across the
middle line of a large node: their box may stick out of the quarter by up to half its side (a
"loose" quadtree). So that a query need not know how far, each node keeps the box that
encloses all items in and below it, and empty quarters are not stored at all.

**How it is built.** Items are sorted by the Morton key of their centres, after which each
node is one run of them and each of its quarters a run within that run. A node of more than
`CAPACITY` items moves those that are too large for its quarters to the front of its run and
keeps them; the rest is split. After `DEPTH` splits the centres that remain together are, for
all purposes, one point. Nodes are numbered in breadth, the quarters of a node side by side,
so that a node is two runs (of items and of children) and a box.

**When it is weak.** Many items of one size, one upon another: they stop at the same node, and
every query that meets its box tests them all. Long and thin boxes stop as early as their
longer side demands, although they cover little. Many equal centres end in one deep node.

**Where it comes from.** R. A. Finkel, J. L. Bentley: "Quad trees", 1974; for boxes,
G. Kedem: "The quad-CIF tree", DAC 1982; the loose quarters are those of T. Ulrich: "Loose
octrees", Game Programming Gems, 2000.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.curves import grid_coordinates, morton_keys
from geocast.match.geometry.shapes import frozen
from geocast.match.index.base import (
    BoundsIndex,
    Boxes,
    Candidates,
    boxes_meet,
    checked,
    grown,
)

__all__ = ["Quadtree"]

DEPTH = 24
CAPACITY = 16
"""Items in a node that are not worth another split: 8 to 32 differ little."""

ITEMS_START, ITEMS_STOP, CHILDREN_START, CHILDREN_STOP, LEVEL = range(5)
"""Columns of a node; its level is known only while the tree is built."""


class Quadtree(BoundsIndex):
    """A loose quadtree; each item in one node, each node with the box of all that it holds."""

    name = "quadtree"

    def __init__(
        self,
        boxes: Boxes,
        items: NDArray[np.int32],
        node_boxes: Boxes,
        nodes: NDArray[np.int32],
    ) -> None:
        """Take over the arrays: a row of `nodes` is a run of items and a run of children."""
        self._boxes: Boxes = frozen(boxes, np.float64)
        self._items: NDArray[np.int32] = frozen(items, np.int32)
        self._node_boxes: Boxes = frozen(node_boxes, np.float64)
        self._nodes: NDArray[np.int32] = frozen(nodes, np.int32)

    @classmethod
    def build(cls, bounds: Boxes) -> Self:
        """Index the boxes."""
        boxes = checked(bounds, what="indexed", finite=True)
        keys, depths = _places(boxes)
        order = np.argsort(keys, kind="stable")
        nodes = _split(order, keys, depths, CAPACITY, DEPTH)
        boxes = boxes[order]
        return cls(boxes, order.astype(np.int32), _node_boxes(boxes, nodes), nodes)

    def query(self, bounds: Boxes) -> Candidates:
        """Return every item whose box meets the query box, and no other."""
        queries = checked(bounds, what="query", finite=False)
        answer: Candidates = _query(
            self._boxes, self._items, self._node_boxes, self._nodes, queries
        )
        return answer

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the items in the order of the tree, and the nodes, each with its boxes."""
        return {
            "boxes": self._boxes,
            "items": self._items,
            "node_boxes": self._node_boxes,
            "nodes": self._nodes,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the tree whose `arrays` these are."""
        return cls(arrays["boxes"], arrays["items"], arrays["node_boxes"], arrays["nodes"])

    def __len__(self) -> int:
        return len(self._items)


def _places(boxes: Boxes) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return for each box the Morton key of its centre and the depth that suits its size."""
    if len(boxes) == 0:
        return np.empty(0, np.uint64), np.empty(0, np.uint8)
    centres, spans = [], []
    for axis in (0, 1):
        low, high = boxes[:, axis], boxes[:, axis + 2]
        begin, end = low.min(), high.max()
        first, last = (grid_coordinates(side, begin, end, DEPTH) for side in (low, high))
        centres.append(grid_coordinates(low / 2 + high / 2, begin, end, DEPTH))
        spans.append(last - first)
    _, bit_lengths = np.frexp(np.maximum(spans[0], spans[1]).astype(np.float64))
    return morton_keys(centres[0], centres[1]), (DEPTH - bit_lengths).astype(np.uint8)


@njit(cache=True)
def _split(
    order: NDArray[np.int64],
    keys: NDArray[np.uint64],
    depths: NDArray[np.uint8],
    capacity: int,
    deepest: int,
) -> NDArray[np.int32]:
    """Return the nodes, and bring `order`, which is sorted by key, into the order of the tree."""
    nodes = np.zeros((64, 5), np.int32)
    spare = np.empty_like(order)
    nodes[0, ITEMS_STOP] = len(order)
    node, count = 0, 1
    while node < count:
        start, stop, depth = nodes[node, ITEMS_START], nodes[node, ITEMS_STOP], nodes[node, LEVEL]
        nodes[node, CHILDREN_START] = count
        if stop - start > capacity and depth < deepest:
            start = _large_first(order, depths, start, stop, depth, spare)
            nodes[node, ITEMS_STOP] = start
            shift = np.uint64(2 * (deepest - depth - 1))
            while start < stop:
                if count == len(nodes):
                    nodes = np.concatenate((nodes, np.zeros_like(nodes)))
                quarter = keys[order[start]] >> shift
                nodes[count, ITEMS_START] = start
                while start < stop and keys[order[start]] >> shift == quarter:
                    start += 1
                nodes[count, ITEMS_STOP] = start
                nodes[count, LEVEL] = depth + 1
                count += 1
        nodes[node, CHILDREN_STOP] = count
        node += 1
    return nodes[:count, :LEVEL].copy()


@njit(cache=True)
def _large_first(
    order: NDArray[np.int64],
    depths: NDArray[np.uint8],
    start: int,
    stop: int,
    depth: int,
    spare: NDArray[np.int64],
) -> int:
    """Move items too large for the quarters to the front of the run; return where they end."""
    large, small = start, 0
    for place in range(start, stop):
        item = order[place]
        if depths[item] <= depth:
            order[large] = item
            large += 1
        else:
            spare[small] = item
            small += 1
    order[large:stop] = spare[:small]
    return large


@njit(cache=True)
def _node_boxes(boxes: Boxes, nodes: NDArray[np.int32]) -> Boxes:
    """Return the boxes around all that each node holds; children have the higher numbers."""
    enclosing = np.empty((len(nodes), 4))
    enclosing[:, :2] = np.inf
    enclosing[:, 2:] = -np.inf
    for node in range(len(nodes) - 1, -1, -1):
        for row in range(nodes[node, ITEMS_START], nodes[node, ITEMS_STOP]):
            _enclose(enclosing[node], boxes[row])
        for child in range(nodes[node, CHILDREN_START], nodes[node, CHILDREN_STOP]):
            _enclose(enclosing[node], enclosing[child])
    return enclosing


@njit(cache=True)
def _enclose(outer: NDArray[np.float64], inner: NDArray[np.float64]) -> None:
    for axis in (0, 1):
        outer[axis] = min(outer[axis], inner[axis])
        outer[axis + 2] = max(outer[axis + 2], inner[axis + 2])


@njit(cache=True)
def _query(
    boxes: Boxes,
    items: NDArray[np.int32],
    node_boxes: Boxes,
    nodes: NDArray[np.int32],
    queries: Boxes,
) -> Candidates:
    waiting = np.empty(4 * (DEPTH + 1), np.int32)
    offsets = np.zeros(len(queries) + 1, np.int64)
    answer = np.empty(max(1024, 8 * len(queries)), np.int32)
    found = 0
    for query in range(len(queries)):
        waiting[0], depth = 0, 1
        while depth > 0:
            depth -= 1
            node = waiting[depth]
            for row in range(nodes[node, ITEMS_START], nodes[node, ITEMS_STOP]):
                if boxes_meet(boxes, row, queries, query):
                    if found == len(answer):
                        answer = grown(answer)
                    answer[found] = items[row]
                    found += 1
            for child in range(nodes[node, CHILDREN_START], nodes[node, CHILDREN_STOP]):
                if boxes_meet(node_boxes, child, queries, query):
                    waiting[depth] = child
                    depth += 1
        offsets[query + 1] = found
    return offsets, answer[:found].copy()
