"""shapely as experts use it: candidates grouped by subscription, whose geometry is prepared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.bench.peers.base import Pairs, Peer
from geocast.bench.peers.shapely_plain import SHAPELY_NAMES
from geocast.model import Predicate

__all__ = ["ShapelyPrepared"]


class ShapelyPrepared(Peer):
    """One vectorised call for each predicate, subscription first, in order of subscription.

    Only a first argument can be prepared, so the converse predicates are asked. Equality has
    no prepared form.
    """

    name = "shapely prepared"

    def __init__(self, subscriptions: pa.Table) -> None:
        self._areas = shapely.from_wkb(subscriptions["geometry"].to_numpy())
        self._predicates = np.array(subscriptions["predicate"].to_pylist())
        shapely.prepare(self._areas)
        self._tree = shapely.STRtree(self._areas)
        # The tree is built on the first query; that belongs to loading.
        self._tree.query(self._areas[0])

    def match(self, publications: pa.Table) -> Pairs:
        """Return all pairs."""
        events = shapely.from_wkb(publications["geometry"].to_numpy())
        event, area = self._tree.query(events)
        grouped = np.argsort(area, kind="stable")
        return Pairs.join(self._refine(events, event[grouped], area[grouped]))

    def _refine(
        self, events: NDArray[np.object_], event: NDArray[np.int64], area: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        asked = self._predicates[area]
        for name in np.unique(asked):
            of_name = asked == name
            left, right = event[of_name], area[of_name]
            converse = Predicate.parse(name).converse.label
            predicate = getattr(shapely, SHAPELY_NAMES.get(converse, converse))
            holds = predicate(self._areas[right], events[left])
            yield left[holds], right[holds]
