"""The hand-written subscriptions: what the filter language can say beyond "in this area"."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.cli.demo.places import CITIES, SAN_ANDREAS, SOLOMON_ISLANDS, TONGA, ring
from geocast.cli.demo.quakes import Quakes
from geocast.cli.demo.subscription import Subscription

__all__ = ["desks"]

MAIN_SHOCK = "2015-08-10T04:12:15Z"


def desks(land: Any) -> list[Subscription]:
    """Return the desks' subscriptions; `land` is all land as one geometry."""
    return [_tsunami(land), _aftershocks(), _two_seas(), _tokyo_ring(), _fault(), _deep()]


def _tsunami(land: Any) -> Subscription:
    return Subscription(
        group="desks",
        id="desk-tsunami",
        name="Tsunami watch",
        predicate="disjoint",
        area=land,
        filter="mag >= 5.5 AND depth < 70",
        plain=lambda quakes: (quakes.mag >= 5.5) & (quakes.depth < 70),
    )


def _aftershocks() -> Subscription:
    return Subscription(
        group="desks",
        id="desk-aftershocks",
        name="Solomon Islands aftershocks",
        filter=(
            f"S_WITHIN(geometry, {SOLOMON_ISLANDS.wkt}) AND mag >= 4"
            f" AND T_AFTER(time, TIMESTAMP('{MAIN_SHOCK}'))"
        ),
        plain=lambda quakes: (
            _meets(SOLOMON_ISLANDS, quakes)
            & (quakes.mag >= 4)
            & (quakes.time > np.datetime64(MAIN_SHOCK.rstrip("Z")))
        ),
    )


def _two_seas() -> Subscription:
    return Subscription(
        group="desks",
        id="desk-tonga-or-solomons",
        name="Tonga or Solomon Islands",
        filter=(
            f"(S_INTERSECTS(geometry, {TONGA.wkt})"
            f" OR S_INTERSECTS(geometry, {SOLOMON_ISLANDS.wkt}))"
            " AND mag >= 4.5"
            " AND T_AFTER(time, TIMESTAMP('2015-08-16T00:00:00Z'))"
        ),
        plain=lambda quakes: (
            (_meets(TONGA, quakes) | _meets(SOLOMON_ISLANDS, quakes))
            & (quakes.mag >= 4.5)
            & (quakes.time > np.datetime64("2015-08-16"))
        ),
    )


def _tokyo_ring() -> Subscription:
    return Subscription(
        group="desks",
        id="desk-tokyo-ring",
        name="Tokyo, 100 to 500 km",
        predicate="within",
        area=ring(CITIES["Tokyo"], 100.0, 500.0),
        filter="mag >= 4",
        plain=lambda quakes: quakes.mag >= 4,
    )


def _fault() -> Subscription:
    corridor = shapely.buffer(SAN_ANDREAS, 0.25, quad_segs=4)
    return Subscription(
        group="desks",
        id="desk-san-andreas",
        name="San Andreas fault",
        predicate="intersects",
        area=corridor,
        filter="mag >= 2 AND NOT (type = 'quarry blast' OR type = 'explosion')",
        plain=lambda quakes: (quakes.mag >= 2) & (quakes.type == "earthquake"),
    )


def _deep() -> Subscription:
    return Subscription(
        group="desks",
        id="desk-deep",
        name="Deep Earth",
        filter="depth > 500 AND mag * 10 >= 40",
        plain=lambda quakes: (quakes.depth > 500) & (quakes.mag * 10 >= 40),
    )


def _meets(area: Any, quakes: Quakes) -> NDArray[np.bool_]:
    return np.asarray(shapely.intersects(area, quakes.points), dtype=np.bool_)
