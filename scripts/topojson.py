"""Read the shapes of a TopoJSON object, cut at the date line.

TopoJSON rings may run across longitude 180 without saying so: one vertex at 179.9, the next
at -179.9. Taken as planar coordinates they would circle the Earth the wrong way round.
Here they are unrolled, cut at 180, and put back on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.affinity import translate

__all__ = ["read"]

DECIMALS = 5


def read(path: Path, name: str) -> Iterator[tuple[str | None, str, Any]]:
    """Yield id, name and valid shape of every geometry of the object `name`."""
    topology = json.loads(path.read_text(encoding="utf-8"))
    arcs = _arcs(topology)
    for geometry in topology["objects"][name]["geometries"]:
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        parts = [_polygon([_ring(ring, arcs) for ring in polygon]) for polygon in polygons]
        yield geometry.get("id"), geometry["properties"]["name"], _tidy(parts)


def _arcs(topology: dict[str, Any]) -> list[NDArray[np.float64]]:
    scale, translate = topology["transform"]["scale"], topology["transform"]["translate"]
    steps = (np.array(arc, dtype=np.int64) for arc in topology["arcs"])
    return [np.cumsum(arc, axis=0) * scale + translate for arc in steps]


def _ring(numbers: list[int], arcs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Join arcs head to tail; a number below zero means the arc ~number, backwards."""
    lines = [arcs[n] if n >= 0 else arcs[~n][::-1] for n in numbers]
    return np.concatenate([lines[0], *[line[1:] for line in lines[1:]]])


def _polygon(rings: list[NDArray[np.float64]]) -> Any:
    shell, *holes = [_unroll(ring) for ring in rings]
    whole = shapely.make_valid(shapely.Polygon(shell, holes))
    turns = [translate(whole, 360.0 * turn) for turn in (-1, 0, 1)]
    return shapely.union_all([shapely.clip_by_rect(t, -180.0, -90.0, 180.0, 90.0) for t in turns])


def _unroll(ring: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let longitudes run on beyond 180; close a ring round the South Pole through the pole."""
    lon = np.unwrap(ring[:, 0], period=360.0)
    unrolled = np.column_stack([lon, ring[:, 1]])
    if abs(lon[-1] - lon[0]) < 180.0:
        return unrolled
    return np.vstack([unrolled, [[lon[-1], -90.0], [lon[0], -90.0]]])


def _tidy(parts: list[Any]) -> Any:
    """Return the areas among the parts as one valid shape with rounded coordinates."""
    rounded = shapely.set_precision(shapely.union_all(parts), 10.0**-DECIMALS)
    areas = [part for part in shapely.get_parts(rounded) if part.geom_type == "Polygon"]
    shape = areas[0] if len(areas) == 1 else shapely.MultiPolygon(areas)
    return shapely.transform(shape, lambda xy: np.round(xy, DECIMALS))
