"""The plain check: every earthquake against every subscription, with shapely alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import shapely
from numpy.typing import NDArray

from geocast.cli.demo.quakes import Quakes
from geocast.cli.demo.subscription import Subscription

__all__ = ["Notifications", "brute_force", "from_matches"]

SEEN_FROM_THE_AREA = {
    "intersects": shapely.intersects,
    "disjoint": shapely.disjoint,
    "within": shapely.contains,
    "coveredby": shapely.covers,
}
"""P(publication, area) as Q(area, publication): shapely is quick where the first is prepared."""


@dataclass(frozen=True)
class Notifications:
    """Matched pairs: numbers of quakes and of subscriptions, ordered by both."""

    quake: NDArray[np.int64]
    subscription: NDArray[np.int64]

    @classmethod
    def of(cls, quake: NDArray[np.int64], subscription: NDArray[np.int64]) -> Notifications:
        """Return the pairs in order."""
        order = np.lexsort((subscription, quake))
        return cls(quake[order], subscription[order])

    def __len__(self) -> int:
        return len(self.quake)

    def agrees(self, other: Notifications) -> bool:
        """Tell whether both hold the same pairs."""
        return np.array_equal(self.quake, other.quake) and np.array_equal(
            self.subscription, other.subscription
        )


def brute_force(subscriptions: Sequence[Subscription], quakes: Quakes) -> Notifications:
    """Return the pairs that hold, found by trying them all; shares no code with the matcher."""
    held = [np.flatnonzero(_holds(subscription, quakes)) for subscription in subscriptions]
    number = np.repeat(np.arange(len(held)), [len(hits) for hits in held])
    return Notifications.of(np.concatenate(held), number)


def _holds(subscription: Subscription, quakes: Quakes) -> NDArray[np.bool_]:
    holds = subscription.plain(quakes)
    if subscription.area is None:
        return holds
    shapely.prepare(subscription.area)
    relation = SEEN_FROM_THE_AREA[str(subscription.predicate)]
    return holds & np.asarray(relation(subscription.area, quakes.points), dtype=np.bool_)


def from_matches(
    matches: pa.Table, quakes: Quakes, subscriptions: Sequence[Subscription]
) -> Notifications:
    """Return the pairs of a table of matches."""
    lists = matches["subscriptions"].combine_chunks()
    publication = matches["publication"].take(pc.list_parent_indices(lists))
    return Notifications.of(
        _numbers(publication, pa.array(quakes.id, pa.string())),
        _numbers(pc.list_flatten(lists), pa.array([s.id for s in subscriptions])),
    )


def _numbers(ids: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    numbers = pc.index_in(ids, value_set=known)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)
