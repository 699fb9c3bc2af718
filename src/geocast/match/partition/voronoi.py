"""Voronoi: some centres by chance, and the box around all that is nearest to each.

The polygons of the diagram touch, but their boxes overlap. Cells are smaller where subscriptions
are dense, since more of the centres are drawn there; how full they are is left to chance.

**Where it comes from.** A. Okabe, B. Boots, K. Sugihara: "Spatial Tessellations", Wiley, 1992.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import shapely

from geocast.match.index.base import Boxes
from geocast.match.partition.base import Cells, centres, extent

__all__ = ["VoronoiBoxes"]

_SLACK = 1e-9
"""How much wider cells are made, as a share of the extent: corners are rounded."""


class VoronoiBoxes:
    """See `geocast.match.partition.base.Method`."""

    name: ClassVar[str] = "VO"
    title: ClassVar[str] = "Voronoi"

    def cut(self, sample: Boxes, count: int, chance: np.random.Generator) -> Cells:
        """Return `count` cells, or one for each centre where those are fewer."""
        covered = extent(sample)
        points = np.unique(centres(sample), axis=0)
        chosen = chance.permutation(points)[:count]
        size = covered[:, 2:] - covered[:, :2]
        if len(chosen) == 1 or (size == 0).any():
            return Cells(covered, covered)
        world = shapely.box(*covered[0])
        diagram = shapely.voronoi_polygons(shapely.MultiPoint(chosen), extend_to=world)
        boxes = shapely.bounds(shapely.intersection(shapely.get_parts(diagram), world))
        boxes = boxes[np.isfinite(boxes).all(axis=1)]
        low = np.maximum(boxes[:, :2] - _SLACK * size, covered[:, :2])
        high = np.minimum(boxes[:, 2:] + _SLACK * size, covered[:, 2:])
        cells = np.hstack([low, high])
        return Cells(cells[np.lexsort(cells.T)], covered)
