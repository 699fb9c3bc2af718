"""Areas, points, who hears of them, and brute force to judge it."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import shapely
from confluent_kafka import Producer

from geocast.client import Client

__all__ = ["PREFIX", "Heard", "expected", "feature", "standing", "wait_heard", "write"]

PREFIX = "up"
"""What the topics of the service under test begin with."""

AREAS = {
    "west": shapely.box(0, 40, 10, 50),
    "east": shapely.box(8, 40, 20, 50),
    "hole": shapely.Point(10, 45).buffer(6).difference(shapely.Point(10, 45).buffer(2)),
}
Heard = Counter[tuple[str, str]]


def feature(name: str, lon: float, lat: float) -> dict[str, Any]:
    point = {"type": "Point", "coordinates": [lon, lat]}
    return {"type": "Feature", "id": name, "geometry": point, "properties": {"n": 1}}


def write(direct: Producer, key: str | None, value: bytes) -> None:
    direct.produce(f"{PREFIX}.publications", value, key)
    assert direct.flush(30) == 0


def standing(client: Client, prefix: str, **properties: Any) -> None:
    for name, area in AREAS.items():
        made = client.subscribe(
            json.loads(shapely.to_geojson(area)), id=f"{prefix}-{name}", properties=properties
        )
        made.wait_active(60)


def expected(prefix: str, features: list[dict[str, Any]]) -> Heard:
    """Brute force: every feature with every area."""
    points = [(one["id"], shapely.Point(one["geometry"]["coordinates"])) for one in features]
    return Counter(
        (name, f"{prefix}-{area}")
        for name, point in points
        for area, shape in AREAS.items()
        if shapely.intersects(point, shape)
    )


def heard(client: Client, prefix: str) -> Heard:
    found: Heard = Counter()
    after = 0
    while page := client.notifications(after=after, limit=1_000):
        after = page[-1].cursor
        found.update((one.publication, one.subscription) for one in page)
    return Counter({pair: n for pair, n in found.items() if pair[1].startswith(f"{prefix}-")})


def wait_heard(client: Client, prefix: str, number: int, seconds: float = 90) -> Heard:
    deadline = time.monotonic() + seconds
    while heard(client, prefix).total() < number and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(1.0)
    return heard(client, prefix)
