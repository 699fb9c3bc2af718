"""The map picture: the world, and three places where the ground was busy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import shapely

from geocast.cli.demo import palette
from geocast.cli.demo.legend import add_legend
from geocast.cli.demo.places import CITIES, CITY_RADIUS_KM, circle
from geocast.cli.demo.projection import outline, project, project_shape
from geocast.cli.demo.scene import Scene, dots, patches

__all__ = ["draw"]

SOURCE = (
    "Earthquakes: USGS, August 2015.   Boundaries: Natural Earth, US Census Bureau.   "
    "Projection: Equal Earth.   Drawn by make demo."
)
DETAILS = {
    "Alaska": (-153.0, 61.6, 17.6),
    "California and Nevada": (-118.9, 37.3, 10.4),
    "Oklahoma and Kansas": (-98.2, 36.2, 5.6),
}
"""Centre (lon, lat) and height in degrees of each detail."""
LABELS = {
    "Solomon Islands": ("Solomon Islands", (22, 20)),
    "Fiji": ("south of Fiji", (18, -14)),
    "Afghanistan": ("Hindu Kush", (-40, 34)),
    "Democratic Republic": ("Congo", (16, -22)),
    "Indonesia": ("Molucca Sea", (-116, 26)),
    "Mexico": ("Mexico", (-70, -34)),
    "Mariana": ("Mariana Islands", (14, 16)),
}
"""Part of `place`: the name and offset in points of the label of the strongest quake there."""


def draw(scene: Scene, path: Path, *, dpi: int = 120) -> None:
    """Draw the scene into a PNG file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(palette.STYLE):
        figure = Figure(figsize=(15.0, 12.6), facecolor=palette.NIGHT)
        _title(figure, scene)
        _world(figure.add_axes((0.02, 0.375, 0.96, 0.525)), scene)
        for column, name in enumerate(DETAILS):
            _detail(figure.add_axes((0.035 + 0.315 * column, 0.045, 0.30, 0.285)), scene, name)
        figure.savefig(path, dpi=dpi, facecolor=palette.NIGHT)


def _title(figure: Any, scene: Scene) -> None:
    alerted = sum(count > 0 for count in scene.alerts.values())
    figure.text(0.035, 0.952, "Who was told? Earthquakes of August 2015", size=25, weight="bold")
    said = (
        f"{len(scene.quakes):,} events matched with {len(scene.subscriptions):,} subscriptions: "
        f"{len(scene.notifications):,} notifications to {alerted:,} subscribers"
    )
    figure.text(0.035, 0.924, said, size=13.5, color=palette.MUTED)
    figure.text(0.035, 0.015, SOURCE, size=9, color=palette.MUTED)


def _world(axes: Any, scene: Scene) -> None:
    axes.add_collection(patches([outline()], fc=palette.SEA, ec=palette.LAND, lw=0.8, zorder=0))
    land = [project_shape(country.shape) for country in scene.world.countries]
    axes.add_collection(patches(land, fc=palette.LAND, ec=palette.BORDER, lw=0.5, zorder=1))
    circles = [project_shape(circle(place, CITY_RADIUS_KM)) for place in CITIES.values()]
    axes.add_collection(patches(circles, fc="none", ec=palette.CITY, lw=0.9, alpha=0.75, zorder=2))
    dots(axes, scene, project, 1.0)
    _labels(axes, scene)
    west, south, east, north = outline().bounds
    axes.set(xlim=(west, east), ylim=(south, north), aspect="equal")
    axes.axis("off")
    add_legend(axes)


def _labels(axes: Any, scene: Scene) -> None:
    quakes = scene.quakes
    for place, (name, offset) in LABELS.items():
        at = [number for number, text in enumerate(quakes.place) if place in text]
        strongest = at[int(np.argmax(quakes.mag[at]))]
        x, y = project(quakes.lon[[strongest]], quakes.lat[[strongest]])
        axes.annotate(
            f"{quakes.mag[strongest]:.1f} {name}",
            (x[0], y[0]),
            xytext=offset,
            textcoords="offset points",
            size=9.5,
            zorder=7,
            arrowprops={"arrowstyle": "-", "color": palette.MUTED, "lw": 0.7},
        )


def _detail(axes: Any, scene: Scene, name: str) -> None:
    frame = _frame(axes, *DETAILS[name])
    counties = [county for county in scene.world.counties if frame.intersects(county.shape)]
    alerts = scene.alerts_of(counties)
    shapes = patches([county.shape for county in counties], ec=palette.BORDER, lw=0.5, zorder=1)
    shapes.set(array=np.log1p(alerts), cmap=palette.area_colours(), clim=(0.0, np.log1p(450)))
    axes.add_collection(shapes)
    states = [state.shape for state in scene.world.states if frame.intersects(state.shape)]
    axes.add_collection(patches(states, fc="none", ec=palette.MUTED, lw=0.8, alpha=0.8, zorder=2))
    dots(axes, scene, lambda lon, lat: (lon, lat), 0.9)
    axes.set_title(name, loc="left", size=13, weight="bold", color=palette.INK)
    told = f"{np.count_nonzero(alerts)} counties told {alerts.sum():,} times"
    axes.set_title(told, loc="right", size=10, color=palette.MUTED)


def _frame(axes: Any, lon: float, lat: float, height: float) -> Any:
    """Show so much of the world that a kilometre is as long either way; return that box."""
    place = axes.get_window_extent()
    width = height * place.width / place.height / np.cos(np.radians(lat))
    west, east = lon - width / 2, lon + width / 2
    south, north = lat - height / 2, lat + height / 2
    axes.set(xlim=(west, east), ylim=(south, north), xticks=[], yticks=[], facecolor=palette.SEA)
    for spine in axes.spines.values():
        spine.set_color(palette.LAND)
    return shapely.box(west, south, east, north)
