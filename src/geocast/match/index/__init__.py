"""Indexes over bounding boxes: one contract, several structures, chosen by name.

Which to take: `cells` decides most matches without geometry and is the matcher's default; it
finds the candidates of lines and areas by an `hprtree`. Of those that only find candidates,
`hprtree` and `strtree` are the smallest, and answer up to twice as fast as `quadtree` where queries
meet many boxes; `quadtree` takes the least time to build, and is as fast where they meet few.
`multigrid` answers points fastest while they and the items are spread evenly. `list` is for a few
items only.
"""

from geocast.match.index.base import BoundsIndex
from geocast.match.index.cells import CellIndex
from geocast.match.index.hprtree import HPRTree
from geocast.match.index.listed import BoxList
from geocast.match.index.multigrid import Multigrid
from geocast.match.index.quadtree import Quadtree
from geocast.match.index.strtree import STRTree

__all__ = ["INDEXES", "BoundsIndex"]

INDEXES: dict[str, type[BoundsIndex]] = {
    "cells": CellIndex,
    "strtree": STRTree,
    "hprtree": HPRTree,
    "quadtree": Quadtree,
    "multigrid": Multigrid,
    "list": BoxList,
}
"""Every index under its name; a new member is one line here."""
