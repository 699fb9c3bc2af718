"""What is counted, for Prometheus.

The processes of a service share a directory (`share_metrics`, before anything here is used), and
`render` adds up what they all counted. Without it, a process counts for itself.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

__all__ = ["Metrics", "metrics", "registry", "render", "share_metrics"]

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_making: Final = threading.Lock()
_DELAYS: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60)


def share_metrics(directory: Path) -> None:
    """Count together with the other processes that share this directory."""
    directory.mkdir(parents=True, exist_ok=True)
    os.environ[_VARIABLE] = str(directory)


class Metrics:
    """All metrics of a service; get them by `metrics()`."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        def latest(name: str, text: str) -> Gauge:
            return Gauge(name, text, multiprocess_mode="mostrecent")

        self.publications: Counter = Counter(
            "geocast_publications", "Publications accepted into the log"
        )
        self.matched_publications: Counter = Counter(
            "geocast_processed_publications", "Publications that the pipeline has matched"
        )
        self.matches: Counter = Counter("geocast_matches", "Matches found")
        self.rejects: Counter = Counter(
            "geocast_rejects", "Records refused, by where that was noticed", ["where"]
        )
        self.notifications: Counter = Counter(
            "geocast_notifications", "Notifications handed over, by channel", ["channel"]
        )
        self.delay: Histogram = Histogram(
            "geocast_delay_seconds",
            "From publication to notification, by channel",
            ["channel"],
            buckets=_DELAYS,
        )
        self.batch_seconds: Histogram = Histogram(
            "geocast_batch_seconds", "Time to process a batch of publications", buckets=_DELAYS
        )
        self.snapshot_version: Gauge = latest(
            "geocast_snapshot_version", "The newest version of all subscriptions"
        )
        self.snapshot_subscriptions: Gauge = latest(
            "geocast_snapshot_subscriptions", "Subscriptions in that version"
        )
        self.snapshot_bytes: Gauge = latest("geocast_snapshot_bytes", "The size of its files")
        self.mailbox_depth: Gauge = latest(
            "geocast_mailbox_depth", "Notifications that wait, for readers or topics"
        )
        self.sessions: Gauge = Gauge(
            "geocast_sessions", "Open streams, by channel", ["channel"], multiprocess_mode="livesum"
        )
        self.parked_webhooks: Gauge = latest(
            "geocast_parked_webhooks", "Webhooks that are given up until they are resumed"
        )


def metrics() -> Metrics:
    """Return the metrics of this process; made when first asked for, by whichever thread."""
    with _making:
        return _made()


@cache
def _made() -> Metrics:
    return Metrics()


def render() -> bytes:
    """Return what all processes counted, in the text format of Prometheus."""
    from prometheus_client import generate_latest

    return generate_latest(registry())


def registry() -> CollectorRegistry:
    """Return what knows all that all processes counted."""
    from prometheus_client import REGISTRY, CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    if _VARIABLE not in os.environ:
        metrics()
        return REGISTRY
    found = CollectorRegistry()
    MultiProcessCollector(found)  # type: ignore[no-untyped-call]
    return found
