"""Who wants to hear of which earthquakes: the subscriptions that come from boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.cli.demo.desks import desks
from geocast.cli.demo.places import CITIES, CITY_RADIUS_KM, circle
from geocast.cli.demo.quakes import Area, Quakes, read_areas
from geocast.cli.demo.subscription import Subscription

__all__ = ["World", "everybody"]


class World:
    """The boundaries, each file read once."""

    @cached_property
    def countries(self) -> list[Area]:
        """All countries."""
        return read_areas("countries")

    @cached_property
    def states(self) -> list[Area]:
        """The states and territories of the United States."""
        return read_areas("us_states")

    @cached_property
    def counties(self) -> list[Area]:
        """The counties of the United States."""
        return read_areas("us_counties")

    @cached_property
    def land(self) -> Any:
        """All land as one geometry."""
        return shapely.union_all([country.shape for country in self.countries])


def everybody(world: World) -> list[Subscription]:
    """Return all subscriptions of the story, grouped."""
    groups = [
        _counties(world),
        _states(world),
        _countries(world),
        _cities(),
        _blasts(world),
        _newsrooms(world),
        desks(world.land),
    ]
    return [subscription for group in groups for subscription in group]


def _counties(world: World) -> Iterator[Subscription]:
    for county in world.counties:
        yield Subscription(
            group="counties",
            id=county.id,
            name=county.name,
            predicate="intersects",
            area=county.shape,
            filter="type = 'earthquake'",
            plain=lambda quakes: quakes.type == "earthquake",
        )


def _states(world: World) -> Iterator[Subscription]:
    for state in world.states:
        yield Subscription(
            group="states",
            id=state.id,
            name=state.name,
            predicate="coveredby",
            area=state.shape,
            filter="type = 'earthquake' AND mag >= 3",
            plain=lambda quakes: (quakes.type == "earthquake") & (quakes.mag >= 3),
        )


def _countries(world: World) -> Iterator[Subscription]:
    for country in world.countries:
        yield Subscription(
            group="countries",
            id=country.id,
            name=country.name,
            predicate="within",
            area=country.shape,
            filter="mag >= 4.5",
            plain=lambda quakes: quakes.mag >= 4.5,
        )


def _cities() -> Iterator[Subscription]:
    for name, position in CITIES.items():
        yield Subscription(
            group="cities",
            id=f"city-{name.lower().replace(' ', '-')}",
            name=name,
            predicate="intersects",
            area=circle(position, CITY_RADIUS_KM),
            filter="depth < 70 AND mag >= 4",
            plain=lambda quakes: (quakes.depth < 70) & (quakes.mag >= 4),
        )


def _blasts(world: World) -> Iterator[Subscription]:
    for state in world.states:
        yield Subscription(
            group="mine inspectors",
            id=state.id.replace("state", "blasts"),
            name=state.name,
            predicate="intersects",
            area=state.shape,
            filter="type IN ('quarry blast', 'explosion')",
            plain=lambda quakes: (quakes.type == "quarry blast") | (quakes.type == "explosion"),
        )


def _newsrooms(world: World) -> Iterator[Subscription]:
    for state in world.states:
        yield Subscription(
            group="newsrooms",
            id=state.id.replace("state", "news"),
            name=state.name,
            filter=f"place LIKE '%{state.name}%' AND mag BETWEEN 2.5 AND 10",
            plain=partial(_named, name=state.name),
        )


def _named(quakes: Quakes, *, name: str) -> NDArray[np.bool_]:
    return np.array([name in place for place in quakes.place]) & (quakes.mag >= 2.5)
