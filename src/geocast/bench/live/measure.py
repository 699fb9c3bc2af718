"""Two measurements of a running service: how late notifications are, and how many it bears."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import httpx
import numpy as np
import orjson

from geocast.bench.live.publisher import Pace, start_publisher
from geocast.bench.live.scene import Scene
from geocast.bench.live.usage import Usage, UsageMeter
from geocast.bench.service import ServiceUnderTest
from geocast.errors import GeocastError
from geocast.repository import Repository

__all__ = ["Delay", "Load", "fill", "measure_delay", "measure_load"]

_IDLE_SECONDS: Final = 600.0
_TOGETHER: Final = 1_000


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from sending a publication to having its notification, over SSE."""

    subscriptions: int
    rate: float
    published: int
    notifications: int
    p50: float
    p90: float
    p99: float
    worst: float
    usage: list[Usage]


@dataclass(frozen=True, slots=True)
class Load:
    """What went into mailboxes while publications came as fast as asked for.

    `rate` is publications a second from the first sent to the last that was in all mailboxes.
    """

    subscriptions: int
    offered: float
    published: int
    notifications: int
    seconds: float
    rate: float
    usage: list[Usage]


def fill(service: ServiceUnderTest, scene: Scene) -> str:
    """Subscribe to all areas of a scene, wait until all are active; return the account's token."""
    token = service.new_account("bench")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=service.url, headers=headers, timeout=120) as http:
        features = list(scene.subscriptions())
        for first in range(0, len(features), _TOGETHER):
            body = {"type": "FeatureCollection", "features": features[first : first + _TOGETHER]}
            answer = http.post(
                "/v1/subscriptions",
                content=orjson.dumps(body),
                headers={"Content-Type": "application/geo+json"},
            )
            answer.raise_for_status()
    last = features[-1]["id"]
    service.client(token).subscription(last).wait_active(_IDLE_SECONDS)
    return token


def measure_delay(
    service: ServiceUnderTest, scene: Scene, token: str, *, rate: float, seconds: float
) -> Delay:
    """Publish at a steady rate and listen over SSE; everything is heard before this returns."""
    delays: list[float] = []
    client = service.client(token)

    def listen() -> None:
        for notification in client.listen(after=before):
            assert notification.feature is not None
            sent = notification.feature["properties"]["sent"]
            delays.append(time.time() - sent / 1e6)

    before = _delivered(service)
    threading.Thread(target=listen, daemon=True).start()
    with UsageMeter(service) as meter:
        pace = Pace(rate, seconds, max(1, round(rate / 20)))
        process, receiver = start_publisher(service.url, token, scene.positions, pace, "d")
        published, _, lag = receiver.recv()
        process.join()
        service.wait_idle(_IDLE_SECONDS)
        expected = _delivered(service) - before
        _wait(lambda: len(delays) >= expected, 60, "the listener has not heard everything")
    if lag > 1:
        raise GeocastError(f"the publisher could not keep its pace: {lag:.1f} s late")
    p50, p90, p99, worst = np.percentile(delays, [50, 90, 99, 100]).tolist()
    count = len(scene.areas)
    return Delay(count, rate, published, len(delays), p50, p90, p99, worst, meter.usage())


def measure_load(
    service: ServiceUnderTest,
    scene: Scene,
    token: str,
    *,
    rate: float,
    seconds: float,
    name: str = "l",
) -> Load:
    """Publish at a rate, and wait until the last match is in its mailbox.

    Publications are called after `name`, which has to be new to the service.
    """
    before = _delivered(service)
    with UsageMeter(service) as meter:
        began = time.monotonic()
        pace = Pace(rate, seconds, max(1, round(rate / 10)))
        process, receiver = start_publisher(service.url, token, scene.positions, pace, name)
        published, _, _ = receiver.recv()
        process.join()
        service.wait_idle(_IDLE_SECONDS)
        took = time.monotonic() - began
    notifications = _delivered(service) - before
    count = len(scene.areas)
    return Load(count, rate, published, notifications, took, published / took, meter.usage())


def _delivered(service: ServiceUnderTest) -> int:
    """Return the newest cursor: how many notifications there have ever been."""
    with closing(Repository.open(service.place.repository)) as repository:
        return repository.mailbox.latest()


def _wait(done: Callable[[], bool], seconds: float, otherwise: str) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise GeocastError(f"{otherwise} after {seconds:.0f} s")
        time.sleep(0.1)
