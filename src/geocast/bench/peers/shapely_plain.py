"""shapely as most people use it: an STR tree of bounds, then plain predicates on candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.bench.peers.base import Pairs, Peer

__all__ = ["SHAPELY_NAMES", "ShapelyPlain"]

SHAPELY_NAMES = {"coveredby": "covered_by"}
"""The predicates that shapely spells differently."""


class ShapelyPlain(Peer):
    """One vectorised call for each predicate, on all pairs whose bounds meet."""

    name = "shapely"

    def __init__(self, subscriptions: pa.Table) -> None:
        self._areas = shapely.from_wkb(subscriptions["geometry"].to_numpy())
        self._predicates = np.array(subscriptions["predicate"].to_pylist())
        self._tree = shapely.STRtree(self._areas)
        # The tree is built on the first query; that belongs to loading.
        self._tree.query(self._areas[0])

    def match(self, publications: pa.Table) -> Pairs:
        """Return all pairs."""
        events = shapely.from_wkb(publications["geometry"].to_numpy())
        event, area = self._tree.query(events)
        return Pairs.join(self._refine(events, event, area))

    def _refine(
        self, events: NDArray[np.object_], event: NDArray[np.int64], area: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        asked = self._predicates[area]
        for name in np.unique(asked):
            of_name = asked == name
            left, right = event[of_name], area[of_name]
            predicate = getattr(shapely, SHAPELY_NAMES.get(name, name))
            holds = predicate(events[left], self._areas[right])
            yield left[holds], right[holds]
