"""Where it happens: real accident positions, and areas around such positions.

The areas are so large that a publication matches as many of them as asked for, on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload.postcodes import ACCIDENTS
from geocast.errors import InputError

__all__ = ["Scene", "make_scene"]

_CORNERS: Final = 4
_POSITIONS: Final = 100_000
_SAMPLE: Final = 20_000
_SMALLEST: Final = 1e-4
_HALVINGS: Final = 10


@dataclass(frozen=True, slots=True)
class Scene:
    """Areas to subscribe to, and positions at which events happen."""

    areas: NDArray[np.object_]
    positions: NDArray[np.float64]

    def subscriptions(self) -> Iterator[dict[str, Any]]:
        """Yield the subscriptions as Features; their ids are their numbers."""
        for number, text in enumerate(shapely.to_geojson(self.areas)):
            yield {
                "type": "Feature",
                "id": f"s{number}",
                "geometry": orjson.loads(text),
                "properties": {"predicate": "intersects"},
            }


def make_scene(folder: DataFolder, subscriptions: int, matches: float, seed: int = 1) -> Scene:
    """Draw a scene in which an event matches `matches` of the areas on average.

    Raises InputError where that is more than half of them.
    """
    if matches > subscriptions / 2:
        raise InputError(f"{matches:g} matches an event are too many of {subscriptions}")
    chance = np.random.default_rng(seed)
    positions = chance.permutation(folder.positions(ACCIDENTS))[:_POSITIONS]
    centres = shapely.points(positions[chance.integers(0, len(positions), subscriptions)])
    spread = chance.uniform(0.5, 1.5, subscriptions)
    sample = shapely.points(positions[chance.integers(0, len(positions), _SAMPLE)])

    def around(radius: float) -> NDArray[np.object_]:
        return np.asarray(shapely.buffer(centres, radius * spread, quad_segs=_CORNERS), object)

    high = _SMALLEST
    while _mean_matches(around(high), sample) < matches:
        high *= 2
    low = high / 2
    for _ in range(_HALVINGS):
        radius = (low + high) / 2
        if _mean_matches(around(radius), sample) < matches:
            low = radius
        else:
            high = radius
    return Scene(around(high), positions)


def _mean_matches(areas: NDArray[np.object_], sample: NDArray[np.object_]) -> float:
    pairs = shapely.STRtree(areas).query(sample, predicate="intersects")
    return float(pairs.shape[1] / len(sample))
