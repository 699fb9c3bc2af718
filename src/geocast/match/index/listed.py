"""A plain list of boxes: every query looks at all of them.

Nothing to build and nothing to keep beside the boxes; for the few subscriptions of a partition that
is often all that is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from geocast.match.geometry.shapes import frozen
from geocast.match.index.base import BoundsIndex, Boxes, Candidates, checked

__all__ = ["BoxList"]

_PAIRS_AT_ONCE: Final = 1 << 22


class BoxList(BoundsIndex):
    """The boxes as they came; see `geocast.match.index.base.BoundsIndex`."""

    name: ClassVar[str] = "list"

    def __init__(self, boxes: Boxes) -> None:
        self._boxes = boxes

    @classmethod
    def build(cls, bounds: Boxes) -> Self:
        """Keep the boxes."""
        return cls(frozen(np.array(checked(bounds, what="indexed", finite=True))))

    def query(self, bounds: Boxes) -> Candidates:
        """Compare every query with every item, some millions of pairs at a time."""
        queries = checked(bounds, what="query", finite=False)
        at_once = max(1, _PAIRS_AT_ONCE // max(1, len(self._boxes)))
        counts, items = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
        for first in range(0, len(queries), at_once):
            meets = _meets(queries[first : first + at_once], self._boxes)
            counts.append(np.count_nonzero(meets, axis=1))
            items.append(np.nonzero(meets)[1].astype(np.int32))
        return np.cumsum(np.concatenate(counts), dtype=np.int64), np.concatenate(items)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the boxes."""
        return {"boxes": self._boxes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over the boxes."""
        return cls(checked(arrays["boxes"], what="indexed", finite=True))

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._boxes)


def _meets(queries: Boxes, boxes: Boxes) -> NDArray[np.bool_]:
    one, other = queries[:, None, :], boxes[None, :, :]
    low = (one[..., 0] <= other[..., 2]) & (one[..., 1] <= other[..., 3])
    return np.asarray(low & (one[..., 2] >= other[..., 0]) & (one[..., 3] >= other[..., 1]))
