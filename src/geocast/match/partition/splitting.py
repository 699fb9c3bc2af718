"""Cutting the fullest cell again and again, until there are as many as asked for."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count as counter

import numpy as np
from numpy.typing import NDArray

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Cells, Points, centres, extent

__all__ = ["Box", "Split", "split_fullest"]

Box = tuple[float, float, float, float]
Split = Callable[[Box, Points], list[Box]]
"""Cuts a box that holds these points into smaller ones that cover it; [] where that cannot be."""


def split_fullest(sample: Boxes, count: int, pieces: int, split: Split) -> Cells:
    """Split the cell that holds most centres, as long as that leaves at most `count` cells.

    `pieces` is how many cells a split gives. The cells touch and do not overlap.
    """
    covered = extent(sample)
    order = counter()
    whole: Box = tuple(covered[0].tolist())
    heap = [(-len(sample), next(order), whole, centres(sample))]
    done: list[Box] = []
    while heap and len(heap) + len(done) + pieces - 1 <= count:
        _, _, box, points = heapq.heappop(heap)
        parts = split(box, points) if len(points) > 1 else []
        if not parts:
            done.append(box)
            continue
        left = np.ones(len(points), np.bool_)
        for part in parts:
            mine = left & _holds(part, points)
            left &= ~mine
            heapq.heappush(heap, (-int(mine.sum()), next(order), part, points[mine]))
    boxes = done + [box for _, _, box, _ in heap]
    return Cells(np.array(sorted(boxes), np.float64), covered)


def _holds(box: Box, points: Points) -> NDArray[np.bool_]:
    low, high = np.array(box[:2]), np.array(box[2:])
    return np.asarray(((points >= low) & (points <= high)).all(axis=1))
