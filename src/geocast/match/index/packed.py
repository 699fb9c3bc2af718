"""Packed R-trees: full nodes in flat arrays, without a pointer.

What the packed trees of this family share. The items are brought into an order that keeps
neighbours together; every run of `FAN_OUT` of them becomes a node, whose box encloses its
run; the nodes are packed into larger nodes in the same way, until one is left. The members
differ in the order alone.

A node has the boxes of all that it holds side by side, coordinate by coordinate, and links to
it: the lowest level, which comes first, to items, the others to nodes. Room that is left has
boxes that meet nothing. A query walks from the last node, the root, down to every node whose
box it meets. It asks for all boxes of a node in one loop without a branch, since a processor
that had to guess which of them meet the query would often guess wrong.

The order within the levels changes only speed: every box encloses its run, whatever that is,
so answers are exact (the boxes that meet the query, and no others) for any order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import frozen
from geocast.match.index.base import (
    BoundsIndex,
    Boxes,
    Candidates,
    checked,
    grown,
)

__all__ = ["FAN_OUT", "PackedTree"]

FAN_OUT: Final = 16
"""Boxes in a node: with 8, queries walk through half as many nodes again; 32 is no faster."""

_DEEPEST: Final = 8  # levels of nodes: FAN_OUT to that power is more than the most items


class PackedTree(BoundsIndex):
    """A packed R-tree; a member says in which order items and nodes are packed."""

    def __init__(
        self, nodes: NDArray[np.float64], links: NDArray[np.int32], sizes: NDArray[np.int64]
    ) -> None:
        """Take over the arrays; `sizes` are the numbers of items, and of nodes that hold items."""
        self._nodes: NDArray[np.float64] = frozen(nodes, np.float64)
        self._links: NDArray[np.int32] = frozen(links, np.int32)
        self._sizes: NDArray[np.int64] = frozen(sizes, np.int64)

    @classmethod
    @abstractmethod
    def _item_order(cls, boxes: Boxes) -> NDArray[np.int64]:
        """Return the order in which items are packed into nodes."""

    @classmethod
    def _node_order(cls, boxes: Boxes) -> NDArray[np.int64]:
        """Return the order in which nodes are packed into larger ones: as they stand."""
        return np.arange(len(boxes))

    @classmethod
    def build(cls, bounds: Boxes) -> Self:
        """Index the boxes."""
        boxes = checked(bounds, what="indexed", finite=True)
        items = len(boxes)
        order = cls._item_order(boxes)
        levels, links = [_packed(boxes[order])], [_padded(order)]
        below = 0
        while len(levels[-1]) > 1:
            boxes = _enclosing(boxes[order])
            order = cls._node_order(boxes)
            links.append(_padded(below + order))
            below += len(levels[-1])
            levels.append(_packed(boxes[order]))
        sizes = np.array([items, len(levels[0])])
        return cls(np.concatenate(levels), np.concatenate(links), sizes)

    def query(self, bounds: Boxes) -> Candidates:
        """Return every item whose box meets the query box, and no other."""
        queries = checked(bounds, what="query", finite=False)
        leaves = int(self._sizes[1])
        answer: Candidates = _query(self._nodes, self._links, leaves, queries)
        return answer

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return nodes and links, and the numbers of items and of nodes that hold them."""
        return {"nodes": self._nodes, "links": self._links, "sizes": self._sizes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the tree whose `arrays` these are.

        Of one without sizes, as they were kept at first (all boxes in one array, items first), the
        tree is built anew.
        """
        if "sizes" in arrays:
            return cls(arrays["nodes"], arrays["links"], arrays["sizes"])
        items = arrays["levels"][1]
        bounds = np.empty((items, 4))
        bounds[arrays["links"][:items]] = arrays["boxes"][:items]
        return cls.build(bounds)

    def __len__(self) -> int:
        return int(self._sizes[0])


def _enclosing(boxes: Boxes) -> Boxes:
    """Return the boxes around each run of FAN_OUT rows."""
    runs = np.arange(0, len(boxes), FAN_OUT)
    low = np.minimum.reduceat(boxes[:, :2], runs)
    high = np.maximum.reduceat(boxes[:, 2:], runs)
    return np.hstack([low, high])


def _packed(boxes: Boxes) -> NDArray[np.float64]:
    """Return nodes of FAN_OUT boxes each, at least one; room that is left meets nothing."""
    nodes = max(1, -(-len(boxes) // FAN_OUT))
    padded = np.full((nodes * FAN_OUT, 4), np.nan)
    padded[: len(boxes)] = boxes
    return np.ascontiguousarray(padded.reshape(nodes, FAN_OUT, 4).transpose(0, 2, 1))


def _padded(order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the links of nodes, each a row."""
    nodes = max(1, -(-len(order) // FAN_OUT))
    padded = np.zeros(nodes * FAN_OUT, np.int32)
    padded[: len(order)] = order
    return padded.reshape(nodes, FAN_OUT)


@njit(cache=True, nogil=True)
def _query(
    nodes: NDArray[np.float64], links: NDArray[np.int32], leaves: int, queries: Boxes
) -> Candidates:
    waiting = np.empty(FAN_OUT * _DEEPEST + 1, np.int32)
    meets = np.empty(FAN_OUT, np.uint8)
    offsets = np.zeros(len(queries) + 1, np.int64)
    items = np.empty(max(1024, 16 * len(queries)), np.int32)
    found = 0
    for query in range(len(queries)):
        west, south = queries[query, 0], queries[query, 1]
        east, north = queries[query, 2], queries[query, 3]
        waiting[0], depth = len(nodes) - 1, 1
        while depth > 0:
            depth -= 1
            node = waiting[depth]
            box, link = nodes[node], links[node]
            for k in range(FAN_OUT):
                meets[k] = (
                    np.uint8(box[0, k] <= east)
                    & np.uint8(box[2, k] >= west)
                    & np.uint8(box[1, k] <= north)
                    & np.uint8(box[3, k] >= south)
                )
            # What does not meet the query is written, too, and then over.
            if node >= leaves:
                for k in range(FAN_OUT):
                    waiting[depth] = link[k]
                    depth += meets[k]
            else:
                if found + FAN_OUT > len(items):
                    items = grown(items)
                for k in range(FAN_OUT):
                    items[found] = link[k]
                    found += meets[k]
        offsets[query + 1] = found
    return offsets, items[:found].copy()
