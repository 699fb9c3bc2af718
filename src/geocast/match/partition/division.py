"""How subscriptions are divided among partitions, and how publications find their partitions.

Three ways. `spread`: a subscription lies in every partition that its box meets, a publication goes
to every partition that its own box meets. `home`: a subscription lies in one partition by place,
`hash`: in one by its id; publications look up in a gazetteer where there is something for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.match.index.base import Boxes, Candidates
from geocast.match.partition import Partitioning, hashed, partition
from geocast.match.partition.base import NOWHERE

__all__ = ["Divider", "Division", "Way"]

Way = Literal["spread", "home", "hash"]


@dataclass(frozen=True)
class Division:
    """A way to divide; `index` is that of every partition (`spread`) or of the gazetteer."""

    way: Way
    index: str
    count: int
    partitioning: Partitioning | None = None

    def places(self, boxes: Boxes, ids: pa.StringArray) -> Candidates:
        """Return the partitions of subscriptions by their boxes and ids."""
        if self.partitioning is None:
            return _one_each(hashed(ids.to_pylist(), self.count))
        if self.way == "home":
            return _one_each(self.partitioning.home(boxes))
        return self.partitioning.places(boxes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the division consists of."""
        if self.partitioning is None:
            return {"cells": np.empty((0, 4)), "covered": NOWHERE}
        return {"cells": self.partitioning.cells, "covered": self.partitioning.covered}

    def facts(self) -> dict[str, Any]:
        """Return the rest of it."""
        return {"way": self.way, "index": self.index, "count": self.count}

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> Division:
        """Return the division that has these arrays and facts."""
        cells, covered = arrays["cells"], arrays["covered"]
        partitioning = None if facts["way"] == "hash" else Partitioning(cells, covered)
        return cls(facts["way"], facts["index"], facts["count"], partitioning)


@dataclass(frozen=True, slots=True)
class Divider:
    """What division to make of any subscriptions; `method` is None for the way `hash`.

    With `partitioning`, these cells are taken, and none are cut.
    """

    way: Way
    index: str
    method: str | None
    cells: int
    partitioning: Partitioning | None = None

    @property
    def label(self) -> str:
        """A name for what this makes, of letters, digits and dots."""
        return f"{self.way}.{self.index}.{self.method or 'id'}.{self.cells}"

    def division(self, boxes: Boxes) -> Division:
        """Divide subscriptions of these boxes, among about `cells` partitions."""
        if self.method is None:
            return Division(self.way, self.index, self.cells)
        known = np.isfinite(boxes).all(axis=1)
        partitioning = self.partitioning or partition(self.method, boxes[known], self.cells)
        return Division(self.way, self.index, partitioning.count, partitioning)


def _one_each(partitions: NDArray[np.int32]) -> Candidates:
    return np.arange(len(partitions) + 1, dtype=np.int64), partitions
