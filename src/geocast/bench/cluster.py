"""A cluster of its own for a measurement: what scripts/cluster.sh starts, and ways to break it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import httpx
import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from geocast.bench.service import free_port, is_idle
from geocast.client import Client
from geocast.errors import GeocastError
from geocast.operate import Place, Settings

__all__ = ["ClusterUnderTest"]

_READY_SECONDS: Final = 900.0
_START_SECONDS: Final = 1200.0
_PAUSE_SECONDS: Final = 15.0
_BROKERS: Final = ("broker-1", "broker-2", "broker-3")
_GATEWAYS: Final = ("gateway-1", "gateway-2")
_DELIVERS: Final = ("deliver-1", "deliver-2")
_WORKERS: Final = ("worker-1", "worker-2")
_ALL: Final = ("postgres", *_BROKERS, "master", *_WORKERS, "pipeline", *_GATEWAYS, *_DELIVERS)
_EXECUTOR: Final = "CoarseGrainedExecutorBackend"
_DISKS: Final = {
    "full disk of a broker": "kafka/3/data",
    "full disk of the pipeline": "data/pipeline",
}
_DISK_BYTES: Final = 512 << 20
_FILLER: Final = "filler"


class ClusterUnderTest:
    """Starts a cluster, breaks and mends it, stops and removes it; a context manager.

    Where this process may mount file systems, two parts of the cluster have small disks of their
    own, which can be filled.
    """

    def __init__(self, script: Path, folder: Path) -> None:
        self._script = script
        self._folder = folder
        self._ports = (free_port(), free_port())
        self._disks: dict[str, Path] = {}
        self._paused: list[psutil.Process] = []
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]

    def __enter__(self) -> ClusterUnderTest:
        self._mount_disks()
        try:
            self._run("start", CLUSTER_OWNER=str(os.getpid()))
        except BaseException:
            self._remove()
            raise
        self.settings = Settings.of(self._environment())
        self.place = Place.of(self._folder / "data" / "pipeline", self.settings)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._go_on()
        self._remove()

    @property
    def faults(self) -> Mapping[str, float]:
        """What can be done to it, and how often relative to the others."""
        killed = dict.fromkeys(
            ("broker", "leader", "worker", "executor", "gateway", "deliver"), 2.0
        )
        others = {"driver": 1.5, "postgres": 1.5, "python": 2.0, "master": 0.5}
        paused = {"paused broker": 1.0, "paused deliver": 1.0, "paused gateway": 0.5}
        return killed | others | paused | dict.fromkeys(self._disks, 0.7)

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
        if fault in self._disks:
            return self._fill(self._disks[fault])
        if fault.startswith("paused "):
            return self._pause(self.targets(fault.removeprefix("paused ")), chance)
        targets = [process for process in self.targets(fault) if _is_alive(process)]
        if not targets:
            return False
        try:
            chance.choice(targets).kill()
        except psutil.NoSuchProcess:
            return False
        return True

    def mend(self) -> None:
        """Empty disks, wake who sleeps, and start again what has ended."""
        self._go_on()
        for name in _ALL:
            process = self._process(name)
            if process is None or not _is_alive(process):
                self._start_again(name)

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

    def targets(self, fault: str) -> list[psutil.Process]:
        """Return the processes that a fault can befall."""
        if fault == "leader":
            return self._named(self._leader())
        if fault in ("executor", "python"):
            return [process for process in self._of_workers() if _is(process, fault)]
        names = {
            "broker": _BROKERS,
            "worker": _WORKERS,
            "gateway": _GATEWAYS,
            "deliver": _DELIVERS,
            "driver": ("pipeline",),
        }
        return self._named(names.get(fault, (fault,)))

    def _named(self, names: tuple[str, ...] | list[str]) -> list[psutil.Process]:
        found = (self._process(name) for name in names)
        return [process for process in found if process is not None]

    def _of_workers(self) -> Iterator[psutil.Process]:
        for worker in self._named(_WORKERS):
            with suppress(psutil.NoSuchProcess):
                yield from worker.children(recursive=True)

    def _process(self, name: str) -> psutil.Process | None:
        try:
            return psutil.Process(int((self._folder / f"{name}.pid").read_text()))
        except (OSError, ValueError, psutil.NoSuchProcess):
            return None

    def _leader(self) -> list[str]:
        """Return the broker that leads the first partition of publications, if one does."""
        servers = self.settings.log.removeprefix("kafka://")
        client = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        try:
            topics = client.list_topics(timeout=20).topics
        except KafkaException:
            return []
        leaders = [
            topic.partitions[0].leader
            for name, topic in topics.items()
            if name.endswith(".publications") and topic.partitions
        ]
        return [f"broker-{leader}" for leader in leaders if leader > 0]

    def _pause(self, targets: list[psutil.Process], chance: random.Random) -> bool:
        alive = [process for process in targets if _is_alive(process)]
        if not alive:
            return False
        process = chance.choice(alive)
        try:
            process.suspend()
        except psutil.NoSuchProcess:
            return False
        self._paused.append(process)
        time.sleep(_PAUSE_SECONDS)
        return True

    def _fill(self, disk: Path) -> bool:
        with suppress(OSError), (disk / _FILLER).open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        time.sleep(5)
        return True

    def _go_on(self) -> None:
        """Undo what lasts: pauses, and full disks."""
        for disk in self._disks.values():
            (disk / _FILLER).unlink(missing_ok=True)
        while self._paused:
            with suppress(psutil.NoSuchProcess):
                self._paused.pop().resume()

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

    def _mount_disks(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for fault, name in _DISKS.items():
            disk = self._folder / name
            disk.mkdir(parents=True)
            options = ["-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "geocast", str(disk)]
            done = subprocess.run(["mount", *options], capture_output=True, check=False)
            if done.returncode == 0:
                self._disks[fault] = disk

    def _remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._run("stop")
        for disk in self._disks.values():
            subprocess.run(["umount", str(disk)], check=False, capture_output=True)
        with suppress(subprocess.CalledProcessError, FileNotFoundError):
            self._run("remove")


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _is(process: psutil.Process, kind: str) -> bool:
    try:
        command = " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return _EXECUTOR in command if kind == "executor" else " pyspark.worker" in command


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5, trust_env=False).is_success
    except httpx.TransportError:
        return False
