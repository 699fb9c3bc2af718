"""How evenly the partitionings spread subscriptions, and how often they place them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import shapely

from geocast.bench.core import Announce
from geocast.match.index.base import Boxes
from geocast.match.partition import METHODS, Partitioning, partition

__all__ = ["Spread", "bounds_of", "measure_partitions"]


@dataclass(frozen=True, slots=True)
class Spread:
    """One method: its cells, and what they do to subscriptions and publications.

    `fullest` is how many subscriptions the fullest partition has, as a multiple of an equal share
    of all placements; `in_overflow` the share of subscriptions that the overflow holds, too.
    """

    method: str
    title: str
    cut: Partitioning
    seconds: float
    placements: float
    travels: float
    fullest: float
    empty: int
    in_overflow: float


def bounds_of(table: pa.Table) -> Boxes:
    """Return the boxes of the geometries of a workload."""
    return np.asarray(shapely.bounds(shapely.from_wkb(table["geometry"].to_numpy())))


def measure_partitions(
    subscriptions: Boxes,
    publications: Boxes,
    count: int,
    announce: Announce,
    methods: Sequence[str] = tuple(METHODS),
) -> list[Spread]:
    """Cut the plane by each method and place everything."""
    found = []
    for method in methods:
        announce(METHODS[method].title)
        began = time.process_time()
        cut = partition(method, subscriptions, count)
        seconds = time.process_time() - began
        found.append(_spread(method, cut, seconds, subscriptions, publications))
    return found


def _spread(
    method: str, cut: Partitioning, seconds: float, subscriptions: Boxes, publications: Boxes
) -> Spread:
    _, placed = cut.places(subscriptions)
    _, sent = cut.places(publications)
    loads = np.bincount(placed, minlength=cut.count)
    return Spread(
        method=method,
        title=METHODS[method].title,
        cut=cut,
        seconds=seconds,
        placements=len(placed) / len(subscriptions),
        travels=len(sent) / len(publications),
        fullest=float(loads.max() / loads.mean()),
        empty=int((loads[:-1] == 0).sum()),
        in_overflow=float(loads[-1] / len(subscriptions)),
    )
