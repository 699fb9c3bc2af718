"""Boxes in queries: west, south, east, north in degrees, also across 180 degrees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

from fastapi import Query

from geocast.gateway.forms import of_form
from geocast.gateway.problems import Problem

__all__ = ["Bounds", "Box", "meets", "read_box"]

Bounds = tuple[float, float, float, float]

_NUMBER: Final = r"-?[0-9]{1,3}(\.[0-9]{1,20})?"
_FOUR_NUMBERS: Final = of_form(
    rf"^{_NUMBER}(,{_NUMBER}){{3}}$", "four numbers are expected: west,south,east,north in degrees"
)
Box = Annotated[
    Annotated[str, _FOUR_NUMBERS] | None,
    Query(description="West, south, east, north; west may be the larger one, across 180 degrees"),
]
"""A box as a parameter of a query."""


def read_box(text: str | None) -> Bounds | None:
    """Return the box that a parameter says; a Problem (422) if it is none on the globe."""
    if text is None:
        return None
    west, south, east, north = map(float, text.split(","))
    if max(abs(west), abs(east)) > 180 or max(abs(south), abs(north)) > 90 or south > north:
        raise Problem(422, f"query.bbox: {text!r} is not west,south,east,north in degrees")
    return west, south, east, north


def meets(geometry: dict[str, Any], box: Bounds) -> bool:
    """Tell whether the bounds of a GeoJSON geometry meet a box."""
    xs, ys = zip(*_positions(geometry["coordinates"]), strict=True)
    west, south, east, north = box
    if max(ys) < south or min(ys) > north:
        return False
    if west <= east:
        return bool(max(xs) >= west and min(xs) <= east)
    return bool(max(xs) >= west or min(xs) <= east)


def _positions(coordinates: list[Any]) -> Iterator[tuple[float, float]]:
    if not isinstance(coordinates[0], list):
        yield coordinates[0], coordinates[1]
        return
    for part in coordinates:
        yield from _positions(part)
