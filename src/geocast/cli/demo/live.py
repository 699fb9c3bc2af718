"""The live part of the demonstration: earthquakes replayed as they happened, and who hears."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from rich.console import Console

from geocast.bench.service import ServiceUnderTest
from geocast.cli.demo.check import Notifications, brute_force
from geocast.cli.demo.quakes import Quakes
from geocast.cli.demo.subscription import Subscription
from geocast.client import Client, Notification
from geocast.errors import GeocastError

__all__ = ["Heard", "replay"]

_FROM_MAGNITUDE: Final = 4.0
_SHOWN_FROM: Final = 5.0
_A_SECOND: Final = 60
_PATIENCE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of the replay: pairs of earthquake and subscription, and how late each was."""

    quakes: int
    pairs: Notifications
    delays: list[float]

    def delay(self, share: float) -> float:
        """Return the delay, in seconds, that this share of the notifications does not exceed."""
        return float(np.quantile(self.delays, share))


def replay(
    service: ServiceUnderTest,
    subscriptions: Sequence[Subscription],
    quakes: Quakes,
    console: Console,
) -> Heard:
    """Subscribe, publish the larger earthquakes in the order of time, and listen.

    Raises GeocastError unless exactly what brute force finds was heard, each once.
    """
    token = service.new_account("demo")
    chosen = _select(quakes, quakes.mag >= _FROM_MAGNITUDE)
    expected = brute_force(subscriptions, chosen)
    heard: list[Notification] = []
    with service.client(token) as client:
        _subscribe(client, subscriptions)
        listener = threading.Thread(
            target=_listen, args=(client, subscriptions, heard, console), daemon=True
        )
        listener.start()
        _publish(client, chosen)
        _wait(heard, len(expected))
        client.close()
    pairs = _pairs(heard, chosen, subscriptions)
    if not pairs.agrees(expected):
        raise GeocastError(
            f"{len(pairs):,} notifications were heard where brute force found {len(expected):,}, "
            "or others; please report this"
        )
    return Heard(len(chosen), pairs, [notification.delay for notification in heard])


def _select(quakes: Quakes, which: Any) -> Quakes:
    rows = np.flatnonzero(which)
    rows = rows[np.argsort(quakes.time[rows], kind="stable")]
    names = ("id", "points", "time", "mag", "depth", "place", "type")
    return Quakes(*(getattr(quakes, name)[rows] for name in names))


def _subscribe(client: Client, subscriptions: Sequence[Subscription]) -> None:
    made = [
        client.subscribe(wish.area, wish.predicate, wish.filter, id=wish.id)
        for wish in subscriptions
    ]
    for subscription in made:
        subscription.wait_active()


def _publish(client: Client, quakes: Quakes) -> None:
    """Publish so many a second, a tenth of a second's worth at a time."""
    features = [_feature(quakes, row) for row in range(len(quakes))]
    together = _A_SECOND // 10
    began = time.monotonic()
    for first in range(0, len(features), together):
        time.sleep(max(0.0, began + first / _A_SECOND - time.monotonic()))
        client.publish_many(features[first : first + together])


def _feature(quakes: Quakes, row: int) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": quakes.id[row],
        "geometry": shapely.geometry.mapping(quakes.points[row]),
        "properties": {
            "time": f"{np.datetime_as_string(quakes.time[row], unit='ms')}Z",
            "mag": float(quakes.mag[row]),
            "depth": float(quakes.depth[row]),
            "place": quakes.place[row],
            "type": quakes.type[row],
        },
    }


def _listen(
    client: Client,
    subscriptions: Sequence[Subscription],
    heard: list[Notification],
    console: Console,
) -> None:
    names = {subscription.id: subscription.name for subscription in subscriptions}
    for notification in client.listen(timeout=_PATIENCE_SECONDS):
        heard.append(notification)
        feature = notification.feature
        if feature is not None and feature["properties"]["mag"] >= _SHOWN_FROM:
            console.print(
                _line(feature["properties"], names[notification.subscription]),
                f"[green]{notification.delay:.2f} s[/]",
            )


def _line(quake: dict[str, Any], name: str) -> str:
    when = str(quake["time"])[5:16].replace("T", " ")
    return f"  {when}  M {quake['mag']:.1f}  {quake['place'][:44]:<44} → {name:<28}"


def _wait(heard: list[Notification], count: int) -> None:
    """Wait until so many were heard, and a moment more for what should not come."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while len(heard) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)


def _pairs(
    heard: Sequence[Notification], quakes: Quakes, subscriptions: Sequence[Subscription]
) -> Notifications:
    quake = {identifier: row for row, identifier in enumerate(quakes.id)}
    place = {subscription.id: row for row, subscription in enumerate(subscriptions)}
    return Notifications.of(
        np.array([quake[told.publication] for told in heard], np.int64),
        np.array([place[told.subscription] for told in heard], np.int64),
    )
