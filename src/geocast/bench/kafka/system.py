"""What is measured: a broker, and a service that uses it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

import httpx
import psutil

from geocast.bench.kafka.scene import ACCOUNT, KafkaScene
from geocast.bench.service import ServiceUnderTest
from geocast.errors import GeocastError
from geocast.log.kafka.options import KafkaOptions

__all__ = ["MATCHING", "KafkaService", "running_broker"]

MATCHING: Final = ("pipeline", "java", "worker")
"""The processes that match."""

_TOGETHER: Final = 500
_ACTIVE_SECONDS: Final = 600.0
_SETTLED_SECONDS: Final = 15.0
_START_SECONDS: Final = 600.0


@contextmanager
def running_broker(script: Path, folder: Path) -> Iterator[str]:
    """Give the address of a broker that `scripts/kafka.sh` starts in a folder; stop it in the end.

    Raises GeocastError where it does not start.
    """
    known = {
        **os.environ,
        "BIN": str(Path(sys.executable).parent),
        "KAFKA_OWNER": str(os.getpid()),
    }
    command = ["bash", str(script)]
    started = subprocess.run(
        [*command, "start", str(folder)],
        env=known,
        capture_output=True,
        text=True,
        timeout=_START_SECONDS,
        check=False,
    )
    try:
        if started.returncode:
            raise GeocastError(f"no Kafka broker: {started.stderr.strip()}")
        yield started.stdout.strip().splitlines()[-1]
    finally:
        subprocess.run([*command, "stop", str(folder)], env=known, check=False)


class KafkaService(ServiceUnderTest):
    """A service whose logs are topics; a broker in the folder `broker` counts as its own."""

    def __init__(self, directory: Path, url: str, broker: Path | None = None) -> None:
        super().__init__(directory, {"GEOCAST_LOG": url})
        self.options = KafkaOptions.of(url)
        self._broker = broker

    @property
    def publications(self) -> str:
        """The name of the topic of publications."""
        return f"{self.options.prefix}.publications"

    @property
    def mine(self) -> str:
        """The name of the subscriber's topic."""
        return f"{self.options.prefix}.to.{ACCOUNT}"

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Return the running processes by role, the broker among them."""
        found = super().processes()
        if self._broker is not None:
            with suppress(OSError, ValueError, psutil.NoSuchProcess):
                pid = int((self._broker / "broker.pid").read_text())
                found["broker"] = [psutil.Process(pid)]
        return found

    def fill(self, scene: KafkaScene, *, topic: bool) -> str:
        """Subscribe to everything in a scene, wait until all is active; return the token.

        As long as small parts of the snapshot are being joined, matching is slower than afterwards.
        """
        token = self.new_account(ACCOUNT)
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/geo+json",
        }
        with httpx.Client(base_url=self.url, headers=headers, timeout=120, trust_env=False) as http:
            waiting = scene.subscriptions(topic)
            while part := list(islice(waiting, _TOGETHER)):
                body = b'{"type":"FeatureCollection","features":[%b]}' % b",".join(part)
                http.post("/v1/subscriptions", content=body).raise_for_status()
        last = scene.workload.subscriptions["id"][-1].as_py()
        self.client(token).subscription(last).wait_active(_ACTIVE_SECONDS)
        self._wait_settled()
        return token

    def _wait_settled(self) -> None:
        """Wait until the snapshot has had no new version for some seconds."""
        newest, since = -1, time.monotonic()
        deadline = since + _ACTIVE_SECONDS
        while time.monotonic() < min(deadline, since + _SETTLED_SECONDS):
            found = max(int(path.stem) for path in (self.place.snapshots / "versions").iterdir())
            if found != newest:
                newest, since = found, time.monotonic()
            time.sleep(0.1)

    @contextmanager
    def held(self, roles: Sequence[str]) -> Iterator[None]:
        """Have processes of these roles rest for the length of a block."""
        running = self.processes()
        resting = [process for role in roles for process in running[role]]
        try:
            for process in resting:
                process.suspend()
            yield
        finally:
            for process in resting:
                with suppress(psutil.NoSuchProcess):
                    process.resume()
