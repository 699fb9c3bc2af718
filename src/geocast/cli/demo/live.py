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
from geocast.errors import GeocastError, ServiceError

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
    ears = _Ears(service.client(token), {wish.id: wish.name for wish in subscriptions}, console)
    with service.client(token) as client:
        _subscribe(client, subscriptions)
        ears.start()
        _publish(client, chosen)
    heard = ears.finish(len(expected))
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


class _Ears(threading.Thread):
    """Listens, and shows the larger earthquakes."""

    def __init__(self, client: Client, names: dict[str, str], console: Console) -> None:
        super().__init__(daemon=True)
        self._client, self._names, self._console = client, names, console
        self._heard: list[Notification] = []
        self._done = threading.Event()

    def run(self) -> None:
        """Listen until told to stop."""
        try:
            for notification in self._client.listen():
                self._heard.append(notification)
                self._show(notification)
        except ServiceError:
            if not self._done.is_set():
                raise

    def finish(self, count: int) -> list[Notification]:
        """Wait until so many were heard, and a moment more for what should not come."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while len(self._heard) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        self._done.set()
        self._client.close()
        return list(self._heard)

    def _show(self, notification: Notification) -> None:
        feature = notification.feature
        if feature is not None and feature["properties"]["mag"] >= _SHOWN_FROM:
            line = _line(feature["properties"], self._names[notification.subscription])
            self._console.print(
                f"{line} [green]{notification.delay:.2f} s[/]", soft_wrap=True, highlight=False
            )


def _line(quake: dict[str, Any], name: str) -> str:
    when = str(quake["time"])[5:16].replace("T", " ")
    return f"  {when}  M {quake['mag']:.1f}  {quake['place'][:40]:<40} → {name:<27}"


def _pairs(
    heard: Sequence[Notification], quakes: Quakes, subscriptions: Sequence[Subscription]
) -> Notifications:
    quake = {identifier: row for row, identifier in enumerate(quakes.id)}
    place = {subscription.id: row for row, subscription in enumerate(subscriptions)}
    return Notifications.of(
        np.array([quake[told.publication] for told in heard], np.int64),
        np.array([place[told.subscription] for told in heard], np.int64),
    )
