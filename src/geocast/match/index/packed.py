"""Packed R-trees: full nodes in flat arrays, without a pointer.

What the packed trees of this family share. The items are brought into an order that keeps
neighbours together; every run of `FAN_OUT` of them becomes a node, whose box encloses its
run; the nodes are packed into larger nodes in the same way, until few are left. The members
differ in the order alone.

All levels stand in one array of boxes, items first. Row r of a level links to what it stands
for: an item's number on the lowest level; above, the number of the run that it encloses.
Runs are implicit (run k of a level is its rows k * fan-out and the next ones), so a tree is
hardly larger than its boxes. A query walks from the top run down to every run whose box it
meets.

The order within the levels changes only speed: every box encloses its run, whatever that is,
so answers are exact (the boxes that meet the query, and no others) for any order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import frozen
from geocast.match.index.base import (
    BoundsIndex,
    Boxes,
    Candidates,
    boxes_meet,
    checked,
    grown,
)

__all__ = ["FAN_OUT", "PackedTree"]

FAN_OUT = 8
"""Boxes in a node: 4 is hardly faster and takes a sixth more memory, 16 is up to a fifth slower."""


class PackedTree(BoundsIndex):
    """A packed R-tree; a member says in which order items and nodes are packed."""

    def __init__(
        self,
        boxes: Boxes,
        links: NDArray[np.int32],
        levels: NDArray[np.int64],
        fan_out: NDArray[np.int64],
    ) -> None:
        """Take over the arrays: level k is the rows levels[k] to levels[k + 1]."""
        self._boxes: Boxes = frozen(boxes, np.float64)
        self._links: NDArray[np.int32] = frozen(links, np.int32)
        self._levels: NDArray[np.int64] = frozen(levels, np.int64)
        self._fan_out: NDArray[np.int64] = frozen(fan_out, np.int64)

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
        order = cls._item_order(boxes)
        levels, links = [boxes[order]], [order]
        while len(levels[-1]) > FAN_OUT:
            boxes = _enclosing(levels[-1])
            order = cls._node_order(boxes)
            levels.append(boxes[order])
            links.append(order)
        starts = np.cumsum([0, *map(len, levels)])
        return cls(np.concatenate(levels), np.concatenate(links), starts, np.array([FAN_OUT]))

    def query(self, bounds: Boxes) -> Candidates:
        """Return every item whose box meets the query box, and no other."""
        queries = checked(bounds, what="query", finite=False)
        fan_out = int(self._fan_out[0])
        answer: Candidates = _query(self._boxes, self._links, self._levels, fan_out, queries)
        return answer

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return boxes and links of all levels, the levels' first rows, and the fan-out."""
        return {
            "boxes": self._boxes,
            "links": self._links,
            "levels": self._levels,
            "fan_out": self._fan_out,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the tree whose `arrays` these are."""
        return cls(arrays["boxes"], arrays["links"], arrays["levels"], arrays["fan_out"])

    def __len__(self) -> int:
        return int(self._levels[1])


def _enclosing(boxes: Boxes) -> Boxes:
    """Return the boxes around each run of FAN_OUT rows."""
    runs = np.arange(0, len(boxes), FAN_OUT)
    low = np.minimum.reduceat(boxes[:, :2], runs)
    high = np.maximum.reduceat(boxes[:, 2:], runs)
    return np.hstack([low, high])


@njit(cache=True)
def _query(
    boxes: Boxes,
    links: NDArray[np.int32],
    levels: NDArray[np.int64],
    fan_out: int,
    queries: Boxes,
) -> Candidates:
    top = len(levels) - 2
    waiting = np.empty((fan_out * len(levels), 2), np.int64)
    offsets = np.zeros(len(queries) + 1, np.int64)
    items = np.empty(max(1024, 8 * len(queries)), np.int32)
    found = 0
    for query in range(len(queries)):
        waiting[0, 0], waiting[0, 1] = top, 0
        depth = 1
        while depth > 0:
            depth -= 1
            level, run = waiting[depth, 0], waiting[depth, 1]
            first = levels[level] + run * fan_out
            for row in range(first, min(first + fan_out, levels[level + 1])):
                if not boxes_meet(boxes, row, queries, query):
                    continue
                if level > 0:
                    waiting[depth, 0], waiting[depth, 1] = level - 1, links[row]
                    depth += 1
                else:
                    if found == len(items):
                        items = grown(items)
                    items[found] = links[row]
                    found += 1
        offsets[query + 1] = found
    return offsets, items[:found].copy()
