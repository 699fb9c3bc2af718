"""Spatial partitionings: one contract, six ways to cut the plane, chosen by name.

Which to take: `ST` and `KT` balance the centres, `QT` nearly as well and places less twice, because
its cells are less thin. `HI` and `VO` overlap, so that more is placed twice. `EG` is even in space
only. `geocast bench partitions` shows it.
"""

from __future__ import annotations

import numpy as np

from geocast.errors import InputError, UnknownNameError
from geocast.match.index.base import Boxes
from geocast.match.partition.base import NOWHERE, Method, Partitioning
from geocast.match.partition.grid import EqualGrid
from geocast.match.partition.hashed import hashed
from geocast.match.partition.hilbert import HilbertRuns
from geocast.match.partition.kdb import KdbTree
from geocast.match.partition.quadtree import QuadtreeCells
from geocast.match.partition.strtree import StrTiles
from geocast.match.partition.voronoi import VoronoiBoxes

__all__ = ["METHODS", "Partitioning", "hashed", "partition"]

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        QuadtreeCells(),
        KdbTree(),
        StrTiles(),
        HilbertRuns(),
        VoronoiBoxes(),
        EqualGrid(),
    )
}
"""Every method under its sign; a new member is one line here."""

_SAMPLE = 100_000


def partition(method: str, bounds: Boxes, count: int, seed: int = 1) -> Partitioning:
    """Cut the plane into at most `count` cells from the boxes of subscriptions.

    Of many boxes a sample is taken. Where there are none, everything is in the overflow. Raises
    UnknownNameError for a method that does not exist and InputError for a count below 1.
    """
    if method not in METHODS:
        raise UnknownNameError("partitioning", method, METHODS)
    if count < 1:
        raise InputError(f"{count} partitions: there has to be at least one")
    if not len(bounds):
        return Partitioning(np.empty((0, 4)), NOWHERE)
    chance = np.random.default_rng(seed)
    sample = bounds if len(bounds) <= _SAMPLE else chance.choice(bounds, _SAMPLE, replace=False)
    cells = METHODS[method].cut(sample, count, chance)
    return Partitioning(cells.boxes, cells.covered)
