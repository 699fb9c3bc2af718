"""Colours and sizes of the map picture: warm light on a night-blue ground."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AREA_MOST",
    "BORDER",
    "CITY",
    "DEPTHS",
    "DIM",
    "INK",
    "LAND",
    "MUTED",
    "NIGHT",
    "SEA",
    "STYLE",
    "area_colours",
    "depth_scale",
    "dot_size",
]

NIGHT = "#0a1020"
SEA = "#0f1830"
LAND = "#25314d"
BORDER = "#0f1830"
DIM = "#5d6b8c"
MUTED = "#93a1bf"
INK = "#eef2fb"
CITY = "#58d0c4"
AREA_MOST = "#1f9c92"
DEPTHS = [0, 10, 35, 70, 150, 300, 700]
DEPTH_COLOURS = ["#ffe9a3", "#ffc65c", "#ff9440", "#f4626f", "#c65bd1", "#6f8dff"]

STYLE = {
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}


def depth_scale() -> tuple[Any, Any]:
    """Return the colour map and the norm that turn a depth in km into a colour."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    return ListedColormap(DEPTH_COLOURS), BoundaryNorm(DEPTHS, len(DEPTH_COLOURS))


def area_colours() -> Any:
    """Return the colour map of areas, from no alert to the most alerts."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("alerts", [LAND, "#1f5f6e", AREA_MOST])


def dot_size(magnitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area of a dot in square points; each step of magnitude about doubles it."""
    return np.asarray(1.6 * 2.05 ** np.clip(magnitude, 0.0, 9.0), dtype=np.float64)
