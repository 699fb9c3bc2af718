"""A small world of chance: publications and subscriptions that often meet, touch and miss."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Interest", "interest", "publication"]

_SIZE: Final = 24
_PREDICATES: Final = ("intersects", "within", "contains", "touches", "disjoint", "coveredby")
_LEVELS: Final = 10


@dataclass(frozen=True, slots=True)
class Interest:
    """What a subscription asks for; `least` is the lowest level of its filter, None for none."""

    geometry: dict[str, Any]
    predicate: str
    least: int | None

    @property
    def filter(self) -> str | None:
        """The filter as CQL2 text."""
        return None if self.least is None else f"level >= {self.least}"


def publication(chance: random.Random, identifier: str) -> dict[str, Any]:
    """Return a Feature: a point, a line or a rectangle on a coarse grid, and a level."""
    kind = chance.random()
    if kind < 0.7:
        geometry = {"type": "Point", "coordinates": _corner(chance)}
    elif kind < 0.85:
        geometry = {"type": "LineString", "coordinates": _line(chance)}
    else:
        geometry = {"type": "Polygon", "coordinates": [_ring(chance, 4)]}
    properties = {"level": chance.randrange(_LEVELS)}
    return {"type": "Feature", "id": identifier, "geometry": geometry, "properties": properties}


def interest(chance: random.Random) -> Interest:
    """Return a rectangle with a predicate and, every other time, a filter."""
    weights = (10, 4, 1, 2, 0.2, 2)
    predicate = chance.choices(_PREDICATES, weights)[0]
    least = chance.randrange(_LEVELS) if chance.random() < 0.5 else None
    return Interest({"type": "Polygon", "coordinates": [_ring(chance, 8)]}, predicate, least)


def _corner(chance: random.Random) -> list[float]:
    return [chance.randrange(_SIZE) / 2, 40 + chance.randrange(_SIZE) / 2]


def _line(chance: random.Random) -> list[list[float]]:
    first = second = _corner(chance)
    while second == first:
        second = _corner(chance)
    return [first, second]


def _ring(chance: random.Random, largest: int) -> list[list[float]]:
    west, south = _corner(chance)
    east = west + chance.randint(1, largest) / 2
    north = south + chance.randint(1, largest) / 2
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]
