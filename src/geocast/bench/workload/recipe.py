"""What a workload is drawn by, and the tables it consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

__all__ = [
    "PREDICATES",
    "RECIPES",
    "Geometries",
    "Recipe",
    "Workload",
    "choose_predicates",
    "publication_columns",
    "subscription_columns",
    "workload_of",
]

Geometries = NDArray[Any]
"""An object array of shapely geometries."""

PREDICATES = (
    "equals",
    "touches",
    "crosses",
    "within",
    "overlaps",
    "contains",
    "intersects",
    "covers",
    "coveredby",
)
"""The predicates that mixed workloads draw from. Disjoint would answer nearly every pair, and
the size of the answer would hide the cost of finding it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to draw one workload.

    points      share of publications that are points (of postcodes)
    predicate   one of PREDICATES for all subscriptions, or "mixed"
    densify     add vertices so that no edge is longer than this many degrees; 0: leave as is
    unique      move and stretch every polygon a little, so that no geometry ever repeats
    attributes  give publications attributes, and subscriptions a CQL2 filter on them
    """

    maker: str = "postcodes"
    subs: int = 10_000
    pubs: int = 10_000
    seed: int = 1
    points: float = 0.4
    predicate: str = "mixed"
    densify: float = 0.0
    unique: bool = False
    attributes: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions (id, subscriber, predicate, geometry) and publications (id, geometry).

    With attributes, subscriptions also have `filter`, and publications a column each.
    """

    subscriptions: pa.Table = field(repr=False)
    publications: pa.Table = field(repr=False)


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "thesis": Recipe(),
        "unique": Recipe(unique=True),
        "densified": Recipe(densify=0.001),
        "points": Recipe(points=1.0, predicate="within", pubs=200_000),
        "points-unique": Recipe(points=1.0, predicate="within", pubs=200_000, unique=True),
        "tracks": Recipe(maker="tracks"),
        "outlines": Recipe(maker="outlines"),
        "osm": Recipe(maker="osm"),
        "world": Recipe(maker="world"),
        "million": Recipe(maker="small", subs=1_000_000, pubs=200_000, predicate="within"),
    }
)
"""The workloads that have a name."""


def choose_predicates(rng: np.random.Generator, recipe: Recipe, count: int) -> NDArray[np.str_]:
    """Return a predicate for each of so many subscriptions."""
    if recipe.predicate == "mixed":
        return rng.choice(PREDICATES, count)
    return np.full(count, recipe.predicate)


def subscription_columns(predicates: NDArray[np.str_], geometry: pa.Array) -> dict[str, Any]:
    """Return the columns of a subscriptions table; a subscriber has ten of them."""
    count = len(predicates)
    return {
        "id": [f"s{i}" for i in range(count)],
        "subscriber": [f"user{i % max(1, count // 10)}" for i in range(count)],
        "predicate": predicates.tolist(),
        "geometry": geometry,
    }


def publication_columns(geometry: pa.Array) -> dict[str, Any]:
    """Return the columns of a publications table without attributes."""
    return {"id": [f"p{i}" for i in range(len(geometry))], "geometry": geometry}


def workload_of(
    rng: np.random.Generator, recipe: Recipe, subs: Geometries, pubs: Geometries
) -> Workload:
    """Return the workload of these geometries, with predicates as the recipe says."""
    predicates = choose_predicates(rng, recipe, len(subs))
    wkb = pa.array(shapely.to_wkb(subs), pa.binary())
    return Workload(
        pa.table(subscription_columns(predicates, wkb)),
        pa.table(publication_columns(pa.array(shapely.to_wkb(pubs), pa.binary()))),
    )
