"""Events to publish in the tests: around a place, of several topics and geometry types."""

from __future__ import annotations

import random
from typing import Any, Final

__all__ = ["feature", "point", "scattered"]

_HUBS: Final = {
    "quake": ((139, 36), (-72, -30), (120, -5), (28, 38), (-120, 37)),
    "fire": ((-120, 40), (24, -12), (135, -25), (-55, -12)),
    "storm": ((-75, 25), (130, 18), (88, 15), (5, 55)),
    "flood": ((90, 24), (105, 12), (9, 48), (-90, 32)),
}
"""Where topics are at home, longitude and latitude."""


def feature(name: str, geometry: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """Return a publication."""
    return {"type": "Feature", "id": name, "geometry": geometry, "properties": properties}


def point(name: str, lon: float, lat: float, **properties: Any) -> dict[str, Any]:
    """Return a publication at a point."""
    return feature(name, {"type": "Point", "coordinates": [lon, lat]}, **properties)


def scattered(count: int, prefix: str, seed: int = 7) -> list[dict[str, Any]]:
    """Return publications of all topics around the world: points, lines and areas."""
    choose = random.Random(seed)
    return [_anywhere(f"{prefix}-{number}", choose) for number in range(count)]


def _anywhere(name: str, choose: random.Random) -> dict[str, Any]:
    topic = choose.choices(list(_HUBS), [5, 4, 1, 1])[0]
    lon, lat = choose.choice(_HUBS[topic])
    x, y = lon + choose.gauss(0, 8), lat + choose.gauss(0, 5)
    properties: dict[str, Any] = {
        "topic": topic,
        "severity": choose.randint(1, 9),
        "place": choose.choice(["coast", "hills", "city", "plain"]),
        "verified": choose.random() < 0.5,
    }
    return feature(name, _geometry(topic, round(x, 3), round(y, 3), choose), **properties)


def _geometry(topic: str, x: float, y: float, choose: random.Random) -> dict[str, Any]:
    if topic == "storm":
        track = [[x + 1.2 * step, y + 0.8 * step] for step in range(-3, 4)]
        return {"type": "LineString", "coordinates": track}
    if topic == "flood":
        wide = choose.uniform(1, 3)
        high = wide / 2
        corners = [[-wide, -high], [wide, -high], [wide * 0.8, high], [-wide, high], [-wide, -high]]
        return {"type": "Polygon", "coordinates": [[[x + dx, y + dy] for dx, dy in corners]]}
    return {"type": "Point", "coordinates": [x, y]}
