"""The contract of all indexes over bounding boxes, and what their members share.

An index answers one question for a whole batch of boxes: which of the stored boxes meet
each of them? A stored box is known by its row in the array that the index was built from.
Boxes are closed: two that share no more than a corner do meet. Answers are candidates:
every item that meets the query is there, once; whoever asks refines them with the true
geometries, so a member may return more than needed, and only wastes time by it.

An index never changes once built. Its whole state is a few flat arrays, which may be
written to files and mapped by many processes at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.errors import InputError
from geocast.match.geometry.shapes import frozen

__all__ = ["BoundsIndex", "Boxes", "Candidates", "boxes_meet", "checked", "grown"]

Boxes = NDArray[np.float64]
"""An array of shape (n, 4): the columns are minx, miny, maxx, maxy."""

Candidates = tuple[NDArray[np.int64], NDArray[np.int32]]
"""(offsets, items): the candidates of query i are items[offsets[i]:offsets[i + 1]]."""

MOST_ITEMS = np.iinfo(np.int32).max


class BoundsIndex(ABC):
    """A static index over bounding boxes.

    A member is one file, one line in the registry `geocast.match.index.INDEXES`, and is then
    held to the contract by the tests of the whole family. The matcher builds an index when
    it is made, saves its `arrays`, and reopens it from mapped ones; it sends a batch of
    publications as one query. An index that was opened answers exactly as the one that was
    built, and the same boxes always give the same arrays.
    """

    name: ClassVar[str]
    """The name in the registry."""

    @classmethod
    @abstractmethod
    def build(cls, bounds: Boxes) -> Self:
        """Index the boxes; `bounds` is copied. InputError unless all are finite, min <= max."""

    @abstractmethod
    def query(self, bounds: Boxes) -> Candidates:
        """Return every item whose box meets the query box, once for each query.

        The order of the items of one query is the index's own. Infinite queries are
        welcome; InputError for one that has a NaN or whose minimum exceeds its maximum.
        """

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole state as flat read-only arrays, each under its name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the index whose `arrays` these are, without copying them."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of items."""


def checked(bounds: Boxes, *, what: str, finite: bool) -> Boxes:
    """Return `bounds` as a contiguous read-only array; InputError if they are not boxes.

    `what` names one box in the message. `finite` refuses infinite coordinates as well.
    """
    if bounds.ndim != 2 or bounds.shape[1] != 4:
        raise InputError(f"bounds of {what} boxes must have the shape (n, 4), not {bounds.shape}")
    if len(bounds) > MOST_ITEMS:
        raise InputError(f"{len(bounds)} {what} boxes are more than the {MOST_ITEMS} possible")
    boxes = frozen(bounds, np.float64)
    good = (boxes[:, 0] <= boxes[:, 2]) & (boxes[:, 1] <= boxes[:, 3])
    if finite:
        good &= np.isfinite(boxes).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(f"{what} box {row} is not a box: {boxes[row].tolist()}")
    return boxes


@njit(cache=True, inline="always")
def boxes_meet(boxes: Boxes, row: int, queries: Boxes, query: int) -> bool:
    """Say whether two closed boxes share a point; for use within kernels."""
    return bool(
        boxes[row, 0] <= queries[query, 2]
        and boxes[row, 2] >= queries[query, 0]
        and boxes[row, 1] <= queries[query, 3]
        and boxes[row, 3] >= queries[query, 1]
    )


@njit(cache=True)
def grown(items: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a copy of `items` with twice the room; for use within kernels."""
    larger = np.empty(2 * len(items), np.int32)
    larger[: len(items)] = items
    return larger
