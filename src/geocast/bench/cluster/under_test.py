"""A cluster of its own for a measurement: what scripts/cluster.sh starts."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import httpx
import psutil

from geocast.bench.cluster.faults import Faults
from geocast.bench.cluster.parts import ALL, Parts
from geocast.bench.service import free_port, is_idle
from geocast.client import Client
from geocast.errors import GeocastError
from geocast.operate import Place, Settings

__all__ = ["ClusterUnderTest"]

_READY_SECONDS: Final = 900.0
_START_SECONDS: Final = 1200.0


class ClusterUnderTest:
    """Starts a cluster, breaks and mends it, removes it; a context manager."""

    def __init__(self, script: Path, folder: Path) -> None:
        self._script = script
        self._folder = folder
        self._ports = (free_port(), free_port())
        self._parts = Parts(folder)
        self._faults = Faults(folder)
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]

    def __enter__(self) -> ClusterUnderTest:
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            self._faults.prepare()
            self._run("start", CLUSTER_OWNER=str(os.getpid()))
        except BaseException as error:
            words = self._words()
            self._remove()
            raise GeocastError(f"the cluster does not start:\n{words}") from error
        self.settings = Settings.of(self._environment())
        self.place = Place.of(self._folder / "data" / "pipeline", self.settings)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._faults.end()
        self._remove()

    @property
    def faults(self) -> Mapping[str, float]:
        """What can be done to it, and how often relative to the others."""
        return self._faults.weights

    def client(self, token: str | None = None) -> Client:
        """Return a client that knows both gateways, of the administrator without a token."""
        known = token or (self._folder / "data" / "gateway-1" / "admin-token").read_text().strip()
        return Client(random.sample(self.urls, len(self.urls)), known)

    def new_account(self, name: str, rights: str = "publish,subscribe") -> str:
        """Make an account and return a token of it."""
        with self.client() as client:
            client.add_account(name, rights.split(","))
            return client.issue_token(name)

    def inflict(self, fault: str, chance: random.Random) -> bool:
        """Break it in one of those ways; tells whether there was something to break."""
        return self._faults.inflict(fault, chance, self.settings.log.removeprefix("kafka://"))

    def mend(self) -> None:
        """Empty disks, wake who sleeps, and start again what has ended, all of it at once."""
        self._faults.end()
        with ThreadPoolExecutor(len(ALL)) as pool:
            for _ in pool.map(self._start_again, self._parts.ended()):
                pass

    def wait_ready(self, seconds: float = _READY_SECONDS) -> None:
        """Wait until both gateways say that publications are matched."""
        deadline = time.monotonic() + seconds
        for url in self.urls:
            while not _is_ready(url):
                if time.monotonic() > deadline:
                    raise GeocastError(f"{url} is not ready after {seconds:.0f} s: {self._words()}")
                time.sleep(0.2)
                self.mend()

    def wait_idle(self, seconds: float) -> None:
        """Wait until all that was published is in mailboxes."""
        deadline = time.monotonic() + seconds
        while not is_idle(self.place, self.settings):
            if time.monotonic() > deadline:
                raise GeocastError(f"the cluster is not idle after {seconds:.0f} s")
            time.sleep(0.5)

    def targets(self, kind: str) -> list[psutil.Process]:
        """Return the processes of a kind."""
        return self._parts.of(kind)

    def _start_again(self, name: str) -> None:
        """Start one; what cannot start yet, because others are away, is tried again later."""
        with suppress(subprocess.CalledProcessError):
            self._run("start", name)

    def _run(self, command: str, *more: str, **environment: str) -> None:
        known = {
            **os.environ,
            "BIN": str(Path(sys.executable).parent),
            "CLUSTER_PORTS": " ".join(map(str, self._ports)),
            **environment,
        }
        island = self._faults.island
        if island.is_there:
            known["CLUSTER_ISLAND"] = f"{island.name} {island.host} {island.inside}"
        with (self._folder / "cluster.log").open("ab") as output:
            subprocess.run(
                ["bash", str(self._script), command, str(self._folder), *more],
                env=known,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=_START_SECONDS,
                check=True,
            )

    def _environment(self) -> dict[str, str]:
        """Return the variables that the processes of the cluster have."""
        command = f"set -a; source '{self._folder}/settings'; env -0"
        told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        return dict(line.split("=", 1) for line in told.stdout.split("\0") if "=" in line)

    def _words(self) -> str:
        """Return the last line that each process wrote."""
        lines = []
        for file in sorted(self._folder.glob("*.log")):
            said = file.read_text(errors="replace").rstrip().rsplit("\n", 1)[-1]
            lines.append(f"{file.stem}: {said[-300:]}")
        return "\n".join(lines)

    def _remove(self) -> None:
        """Remove everything; nothing is needed any more, so nothing ends in order."""
        self._parts.kill()
        self._faults.remove()
        with suppress(subprocess.CalledProcessError, FileNotFoundError):
            self._run("remove")


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5, trust_env=False).is_success
    except httpx.TransportError:
        return False
