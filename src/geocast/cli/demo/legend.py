"""The legend of the map picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from geocast.cli.demo import palette

__all__ = ["add_legend"]

LIGHT = "#ffc65c"


def add_legend(axes: Any) -> None:
    """Add what dots and circles mean, in the corners that the projection leaves empty."""
    axes.add_artist(_box(axes, "Magnitude", _magnitudes(), "lower left"))
    axes.add_artist(_box(axes, "Depth, km", _depths(), "lower right"))
    axes.add_artist(_box(axes, None, _kinds(), "upper right"))


def _box(axes: Any, title: str | None, handles: list[Any], place: str) -> Any:
    box = axes.legend(
        handles=handles,
        title=title,
        loc=place,
        frameon=False,
        fontsize=9.5,
        title_fontsize=10,
        labelcolor=palette.MUTED,
        alignment="left",
        borderpad=0.0,
    )
    box.get_title().set_color(palette.INK)
    return box


def _magnitudes() -> list[Any]:
    return [_dot(f"{m}", LIGHT, float(m)) for m in (2, 3, 4, 5, 6)]


def _depths() -> list[Any]:
    bounds = zip(palette.DEPTHS, palette.DEPTHS[1:], strict=False)
    colours, _ = palette.depth_scale()
    return [
        _dot(f"{low} to {high}", colours(number), 4.0) for number, (low, high) in enumerate(bounds)
    ]


def _kinds() -> list[Any]:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": "o", "ls": "none", "markersize": 8}
    ring = Line2D([], [], mfc="none", mec=palette.CITY, label="300 km around a city", **look)
    look["marker"] = "s"
    area = Line2D([], [], mfc=palette.AREA_MOST, mec="none", label="county told often", **look)
    told, quiet = _dot("somebody was told", LIGHT, 4.0), _dot("nobody had asked", palette.DIM, 4.0)
    return [told, quiet, ring, area]


def _dot(label: str, colour: Any, magnitude: float) -> Any:
    from matplotlib.lines import Line2D

    size = float(np.sqrt(palette.dot_size(np.array([magnitude]))[0]))
    return Line2D(
        [], [], marker="o", ls="none", mfc=colour, mec="none", markersize=size, label=label
    )
