"""How fast the service is: totals of what was counted, and the delays of the last minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Final

from geocast.operate import Spread, read_metrics

__all__ = ["Pace"]

_SECONDS: Final = 60.0
_BETWEEN: Final = 1.0


class Pace:
    """Remembers how delays were spread, so that those of the last minute can be told apart."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._earlier: deque[tuple[float, Spread]] = deque()

    def read(self) -> dict[str, Any]:
        """Return the numbers since the service was started, and the recent delays in seconds.

        Recent is what came since this was asked first within the last minute. A notification
        counts when it is in its mailbox.
        """
        found = read_metrics()
        delays = self._recent(found.spread("geocast_delay_seconds", channel="mailbox"))
        return {
            "processed": found.total("geocast_processed_publications"),
            "matches": found.total("geocast_matches"),
            "notifications": found.by("geocast_notifications", "channel").get("mailbox", 0),
            "rejects": found.by("geocast_rejects", "where"),
            "delay": {
                "count": delays.count,
                "p50": delays.quantile(0.5),
                "p99": delays.quantile(0.99),
            },
        }

    def _recent(self, spread: Spread) -> Spread:
        at = time.monotonic()
        with self._lock:
            while len(self._earlier) > 1 and self._earlier[1][0] <= at - _SECONDS:
                self._earlier.popleft()
            if not self._earlier or at - self._earlier[-1][0] >= _BETWEEN:
                self._earlier.append((at, spread))
            first, earlier = self._earlier[0]
        return spread if at - first < _BETWEEN else spread.since(earlier)
