"""A publisher in a process of its own, which sends points at a steady pace."""

from __future__ import annotations

import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any, Final

import httpx
import numpy as np
import orjson
from numpy.typing import NDArray

__all__ = ["Pace", "start_publisher"]

_SEQUENCE: Final = {"Content-Type": "application/geo+json-seq"}


@dataclass(frozen=True, slots=True)
class Pace:
    """So many points a second, for so many seconds, `together` in one request."""

    rate: float
    seconds: float
    together: int


def start_publisher(
    url: str, token: str, positions: NDArray[np.float64], pace: Pace, prefix: str
) -> tuple[BaseProcess, Any]:
    """Start publishing; the connection will give (how many were accepted, seconds, worst lag)."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (url, token, positions, pace, prefix, sender)
    process = context.Process(target=_publish, args=arguments, daemon=True)
    process.start()
    return process, receiver


def _publish(
    url: str, token: str, positions: NDArray[np.float64], pace: Pace, prefix: str, sender: Any
) -> None:
    headers = {"Authorization": f"Bearer {token}", **_SEQUENCE}
    chance = np.random.default_rng(7)
    accepted, number, worst = 0, 0, 0.0
    with httpx.Client(base_url=url, headers=headers, timeout=60) as http:
        began = time.monotonic()
        while (due := began + number / pace.rate) < began + pace.seconds:
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            worst = max(worst, -wait)
            at = positions[chance.integers(0, len(positions), pace.together)].tolist()
            body = b"".join(_line(f"{prefix}{number + k}", xy) for k, xy in enumerate(at))
            answer = http.post("/v1/publications", content=body)
            answer.raise_for_status()
            accepted += len(orjson.loads(answer.content)["accepted"])
            number += pace.together
        sender.send((accepted, time.monotonic() - began, worst))


def _line(identifier: str, xy: list[float]) -> bytes:
    feature = {
        "type": "Feature",
        "id": identifier,
        "geometry": {"type": "Point", "coordinates": xy},
        "properties": {"sent": time.time_ns() // 1000},
    }
    return orjson.dumps(feature) + b"\n"
