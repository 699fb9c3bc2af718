"""HPR tree: a packed R-tree in Hilbert order.

**What it is.** A packed R-tree (see `geocast.match.index.packed`) whose items stand in the
order in which a Hilbert curve meets the centres of their boxes.

**How it is built.** The centres are numbered along a Hilbert curve through 65,536 x 65,536
cells over the extent of the centres; one sort by that number is the whole work, and nodes
are packed as they then stand. It builds faster than an STR tree and answers about as fast.

**When it is weak.** Only centres count: where sizes mix, one large box swells the nodes of
the small ones around it, up to the root. Centres in one and the same cell keep the order in
which they came, so that a set with a few boxes very far away, and all others in one spot,
is packed badly there.

**Where it comes from.** I. Kamel, C. Faloutsos: "On packing R-trees", CIKM 1993. The name
and the implicit layout are those of M. Davis's `HPRtree` in JTS, which follows V. Agafonkin's
flatbush.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geocast.match.geometry.curves import hilbert_order
from geocast.match.index.base import Boxes
from geocast.match.index.packed import PackedTree

__all__ = ["HPRTree"]


class HPRTree(PackedTree):
    """A packed R-tree in Hilbert order of the centres of the boxes."""

    name = "hprtree"

    @classmethod
    def _item_order(cls, boxes: Boxes) -> NDArray[np.int64]:
        return hilbert_order(boxes)
