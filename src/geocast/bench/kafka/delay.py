"""How late a subscriber reads of a publication, at a steady rate."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from numpy.typing import NDArray

from geocast.bench.kafka.publisher import Pace, start_publisher
from geocast.bench.kafka.scene import KafkaScene
from geocast.bench.kafka.subscriber import Heard, Wanted, start_subscriber
from geocast.bench.kafka.system import KafkaService
from geocast.bench.kafka.usage import Meter, RoleUsage

__all__ = ["Delay", "measure_delay"]

_OFFSET_SECONDS: Final = 30.0
_PATIENCE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from producing a publication to reading of it, each message on its own.

    A message has all matches of a publication; `matches` came, of those `expected`. `lag` is how
    late the publisher was at worst, `behind` how long after the last publication the last message
    came; `wrong` counts publications that were heard of too often or too rarely.
    """

    rate: float
    published: int
    messages: int
    matches: int
    expected: int
    p50: float
    p90: float
    p99: float
    worst: float
    lag: float
    behind: float
    wrong: int
    usage: list[RoleUsage]


def measure_delay(
    service: KafkaService, scene: KafkaScene, *, rate: float, seconds: float, name: str = "d"
) -> Delay:
    """Publish at a steady rate, and read the subscriber's topic until everything has come.

    Publications are called after `name`, which has to be new to the service. What has not come
    after twice the time and a minute is given up, and counts as wrong.
    """
    total = max(1, round(rate * seconds))
    expected = scene.matches[np.arange(total) % len(scene.matches)]
    sent = get_context("spawn").RawArray("d", total)
    wanted = Wanted(service.mine, _end(service), int(expected.sum()), name)
    patience = 2 * seconds + _PATIENCE_SECONDS
    listener, told = start_subscriber(service.options, wanted, sent, patience)
    told.recv()
    publisher, lag = start_publisher(
        service.options, service.publications, scene, Pace(rate, total, name), sent
    )
    own = {"publisher": publisher.pid or 0, "subscriber": listener.pid or 0}
    with Meter(service, own) as meter:
        worst = lag.recv()
        heard = told.recv()
    return _delay(rate, expected, heard, worst, max(sent), meter.usage())


def _delay(
    rate: float,
    expected: NDArray[np.int64],
    heard: Heard,
    lag: float,
    last: float,
    usage: list[RoleUsage],
) -> Delay:
    return Delay(
        rate=rate,
        published=len(expected),
        messages=int(heard.late.sum()),
        matches=int(heard.times.sum()),
        expected=int(expected.sum()),
        p50=_quantile(heard.late, 0.5),
        p90=_quantile(heard.late, 0.9),
        p99=_quantile(heard.late, 0.99),
        worst=(len(heard.late) - 1) / 1000,
        lag=lag,
        behind=heard.last - last,
        wrong=int((heard.times != expected).sum()),
        usage=usage,
    )


def _quantile(late: NDArray[np.int64], share: float) -> float:
    """Return the seconds within which that share of the messages came."""
    reached = np.cumsum(late)
    return int(np.searchsorted(reached, share * reached[-1])) / 1000


def _end(service: KafkaService) -> int:
    """Return the end of the subscriber's topic."""
    settings = {**service.options.client(), "group.id": f"{service.options.prefix}.bench"}
    with closing(Consumer(settings)) as consumer:
        place = TopicPartition(service.mine, 0)
        return int(consumer.get_watermark_offsets(place, timeout=_OFFSET_SECONDS)[1])
