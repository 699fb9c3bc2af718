"""A subscription of the demonstration, stated for Geocast and once more in plain terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.cli.demo.quakes import Quakes

__all__ = ["Plain", "Subscription", "to_table"]

Plain = Callable[[Quakes], NDArray[np.bool_]]


@dataclass(frozen=True)
class Subscription:
    """One standing query.

    Geocast sees `predicate`, `area` and the CQL2 text `filter`; where there is no area, the
    text is the whole expression. `plain` says the same about attributes (and about space,
    where there is no area) in numpy and shapely. `group` and `name` are for people.
    """

    group: str
    id: str
    name: str
    filter: str
    plain: Plain
    predicate: str | None = None
    area: Any = None


def to_table(subscriptions: Sequence[Subscription]) -> pa.Table:
    """Return subscriptions as the table that `geocast.match` and `geocast.spark.match` take."""
    columns = {
        "id": [s.id for s in subscriptions],
        "subscriber": [s.name for s in subscriptions],
        "geometry": pa.array([_wkb(s.area) for s in subscriptions], pa.binary()),
        "predicate": pa.array([s.predicate for s in subscriptions], pa.string()),
        "filter": [s.filter for s in subscriptions],
    }
    return pa.table(columns)


def _wkb(area: Any) -> bytes | None:
    return None if area is None else bytes(shapely.to_wkb(area, byte_order=1))
