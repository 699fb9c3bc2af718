"""A Pacific-centred Equal Earth projection, so that the Ring of Fire is seen whole.

Equal Earth: Savric, Patterson, Jenny (2018), "The Equal Earth map projection"; areas are
true, and it is a polynomial in one angle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.affinity import translate

__all__ = ["CENTRE", "outline", "project", "project_shape"]

CENTRE = 150.0
SEAM = CENTRE - 180.0
A1, A2, A3, A4 = 1.340264, -0.081106, 0.000893, 0.003796
STEP = 1.0
"""Degrees between added vertices, so that long straight edges bend with the projection."""

Floats = NDArray[np.float64]


def project(lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
    """Return plane coordinates; the seam of the map lies in the Atlantic."""
    return _equal_earth((lon - SEAM) % 360.0 - 180.0, lat)


def project_shape(shape: Any) -> Any:
    """Return a shape in plane coordinates, cut at the seam and whole at the date line."""
    west = shapely.clip_by_rect(shape, -180.0, -90.0, SEAM, 90.0)
    east = shapely.clip_by_rect(shape, SEAM, -90.0, 180.0, 90.0)
    west = translate(west, 360.0 - CENTRE)
    east = translate(east, -CENTRE)
    whole = shapely.segmentize(shapely.union_all([west, east], grid_size=1e-6), STEP)
    return shapely.transform(whole, lambda xy: np.column_stack(_equal_earth(xy[:, 0], xy[:, 1])))


def outline() -> Any:
    """Return the edge of the world as a polygon in plane coordinates."""
    world = shapely.segmentize(shapely.box(-180.0, -90.0, 180.0, 90.0), STEP)
    return shapely.transform(world, lambda xy: np.column_stack(_equal_earth(xy[:, 0], xy[:, 1])))


def _equal_earth(lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
    root = np.sqrt(3.0)
    t = np.arcsin(root / 2.0 * np.sin(np.radians(lat)))
    slope = 9.0 * A4 * t**8 + 7.0 * A3 * t**6 + 3.0 * A2 * t**2 + A1
    x = 2.0 * root * np.radians(lon) * np.cos(t) / (3.0 * slope)
    return x, t * (A4 * t**8 + A3 * t**6 + A2 * t**2 + A1)
