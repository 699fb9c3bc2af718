"""What the map picture shows, and the drawing that its panels share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.cli.demo import palette
from geocast.cli.demo.check import Notifications
from geocast.cli.demo.quakes import Area, Quakes
from geocast.cli.demo.story import World
from geocast.cli.demo.subscription import Subscription

__all__ = ["Scene", "dots", "patches"]

Project = Callable[
    [NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]
]


@dataclass(frozen=True)
class Scene:
    """The world, the quakes, and who was told of which."""

    world: World
    quakes: Quakes
    subscriptions: Sequence[Subscription]
    notifications: Notifications

    @cached_property
    def heard(self) -> NDArray[np.bool_]:
        """Which quakes somebody was told of."""
        return np.bincount(self.notifications.quake, minlength=len(self.quakes)) > 0

    @cached_property
    def alerts(self) -> dict[str, int]:
        """How many notifications each subscription had, by its id."""
        counts = np.bincount(self.notifications.subscription, minlength=len(self.subscriptions))
        return dict(zip((s.id for s in self.subscriptions), counts.tolist(), strict=True))

    def alerts_of(self, areas: Sequence[Area]) -> NDArray[np.int64]:
        """How many notifications the subscription with the id of each area had."""
        return np.array([self.alerts[area.id] for area in areas], dtype=np.int64)


def patches(shapes: Iterable[Any], **style: Any) -> Any:
    """Return polygons, holes and all, as one matplotlib collection."""
    from matplotlib.collections import PathCollection

    return PathCollection([_path(shape) for shape in shapes], **style)


def dots(axes: Any, scene: Scene, project: Project, scale: float) -> None:
    """Draw the quakes: pale where nobody asked, else lit by depth; the strong ones on top."""
    quakes = scene.quakes
    x, y = project(quakes.lon, quakes.lat)
    size = palette.dot_size(quakes.mag) * scale
    quiet = ~scene.heard
    axes.scatter(x[quiet], y[quiet], s=size[quiet] * 0.6, c=palette.DIM, alpha=0.55, lw=0, zorder=3)
    lit = np.flatnonzero(scene.heard)
    lit = lit[np.argsort(quakes.mag[lit], kind="stable")]
    colours, norm = palette.depth_scale()
    look = {"c": quakes.depth[lit], "cmap": colours, "norm": norm}
    axes.scatter(x[lit], y[lit], s=size[lit] * 4.0, alpha=0.07, lw=0, zorder=4, **look)
    axes.scatter(
        x[lit], y[lit], s=size[lit], alpha=0.8, lw=0.3, edgecolors=palette.NIGHT, zorder=5, **look
    )


def _path(shape: Any) -> Any:
    from matplotlib.path import Path

    rings = shapely.get_rings(shapely.get_parts(shape))
    return Path.make_compound_path(
        *[Path(shapely.get_coordinates(ring), closed=True) for ring in rings]
    )
