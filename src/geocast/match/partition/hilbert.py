"""Hilbert: equally many subscriptions in a row along the curve, and the box around them.

The boxes overlap, since parts of a curve are not boxes; so much is placed more than once, and what
none of them holds goes to the overflow.

**Where it comes from.** I. Kamel, C. Faloutsos: "On packing R-trees", CIKM 1993.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from geocast.match.geometry.curves import hilbert_order
from geocast.match.index.base import Boxes
from geocast.match.partition.base import NOWHERE, Cells, extent

__all__ = ["HilbertRuns"]


class HilbertRuns:
    """See `geocast.match.partition.base.Method`."""

    name: ClassVar[str] = "HI"
    title: ClassVar[str] = "Hilbert"

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return `count` cells, or one for each box where those are fewer."""
        order = hilbert_order(np.ascontiguousarray(sample))
        runs = np.array_split(sample[order], min(count, len(sample)))
        return Cells(np.concatenate([extent(run) for run in runs]), NOWHERE)
