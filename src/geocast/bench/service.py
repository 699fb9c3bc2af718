"""A service of its own for a measurement: `geocast up` in a directory, on a free port."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import httpx
import psutil

from geocast.client import Client
from geocast.deliver.mail import CONSUMER
from geocast.errors import GeocastError
from geocast.log import matches, publications
from geocast.operate import Place, Settings
from geocast.pipeline.checkpoint import committed
from geocast.repository import Repository

__all__ = ["ROLES", "ServiceUnderTest", "free_port", "is_idle"]

ROLES: Final = ("supervisor", "gateway", "pipeline", "deliver", "java", "worker")
"""What the processes of a service are: `java` is Spark, `worker` its Python processes."""

_READY_SECONDS: Final = 300.0
_FAULTS: Final = {"worker": 4, "pipeline": 2, "gateway": 4, "deliver": 4, "java": 1, "all": 1}


class ServiceUnderTest:
    """Starts a service, finds its processes, kills and stops it; a context manager."""

    def __init__(
        self,
        directory: Path,
        environment: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self._options = options
        self._environment = {**os.environ, **(environment or {})}
        self.settings = Settings.of(self._environment)
        self.place = Place.of(directory, self.settings)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ServiceUnderTest:
        self.start()
        try:
            self.wait_ready()
        except BaseException:
            self.kill("all")
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def token(self) -> str:
        """The administrator's token."""
        return self.place.admin_token.read_text().strip()

    def client(self, token: str | None = None) -> Client:
        """Return a client, of the administrator where no token is given."""
        return Client(self.url, token or self.token)

    def new_account(self, name: str, rights: str = "publish,subscribe") -> str:
        """Make an account and return a token of it."""
        with self.client() as client:
            client.add_account(name, rights.split(","))
            return client.issue_token(name)

    def start(self) -> None:
        """Start `geocast up`, in a session of its own."""
        self.place.root.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "geocast", "up", "--data", str(self.place.root)]
        with (self.place.root / "up.log").open("ab") as output:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port), *self._options],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment,
                start_new_session=True,
            )

    def wait_ready(self, seconds: float = _READY_SECONDS) -> None:
        """Wait until the service is ready; raises GeocastError where it has ended instead."""
        deadline = time.monotonic() + seconds
        with httpx.Client(base_url=self.url, timeout=5, trust_env=False) as http:
            while time.monotonic() < deadline:
                if self._process is None or self._process.poll() is not None:
                    raise GeocastError(f"the service ended: {self.last_words()}")
                with suppress(httpx.TransportError):
                    if http.get("/readyz").is_success:
                        return
                time.sleep(0.2)
        raise GeocastError(f"the service is not ready after {seconds:.0f} s: {self.last_words()}")

    def last_words(self) -> str:
        """Return the end of what the service printed."""
        return (self.place.root / "up.log").read_text()[-2000:]

    def stop(self) -> None:
        """Stop the service as a user would; raises GeocastError where it does not end."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(90)
        except subprocess.TimeoutExpired:
            self.kill("all")
            raise GeocastError(f"the service does not stop: {self.last_words()}") from None

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Return the running processes by role."""
        found: dict[str, list[psutil.Process]] = {role: [] for role in ROLES}
        if self._process is None or self._process.poll() is not None:
            return found
        try:
            parent = psutil.Process(self._process.pid)
            found["supervisor"].append(parent)
            for process in parent.children(recursive=True):
                role = _role(process)
                if role is not None:
                    found[role].append(process)
        except psutil.NoSuchProcess:
            pass
        return found

    def wait_idle(self, seconds: float) -> None:
        """Wait until it is idle; raises GeocastError where that takes longer."""
        deadline = time.monotonic() + seconds
        while not is_idle(self.place, self.settings):
            if time.monotonic() > deadline:
                raise GeocastError(f"the service is not idle after {seconds:.0f} s")
            time.sleep(0.2)

    @property
    def faults(self) -> Mapping[str, float]:
        """What can be done to it, and how often relative to the others."""
        return _FAULTS

    def inflict(self, fault: str, chance: random.Random) -> bool:
        """Kill -9 one process of a role, or all ("all"); False if none runs."""
        return self.kill(fault)

    def mend(self) -> None:
        """Start the service again if the one who looks after its processes has ended."""
        if self._process is None or self._process.poll() is not None:
            self.start()

    def kill(self, role: str) -> bool:
        """Kill -9 one process of a role, or all of them at once ("all"); False if none runs."""
        running = self.processes()
        if role == "all":
            targets = [process for processes in running.values() for process in processes]
        else:
            targets = random.sample(running[role], min(1, len(running[role])))
        for process in targets:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        if role in ("all", "supervisor") and self._process is not None:
            self._process.wait()
        return bool(targets)


def _role(process: psutil.Process) -> str | None:
    try:
        command = process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    text = " ".join(command)
    for role, words in (
        ("gateway", "-m geocast gateway"),
        ("pipeline", "-m geocast run"),
        ("deliver", "-m geocast deliver"),
        ("worker", " pyspark.worker"),
        ("java", "org.apache.spark"),
    ):
        if words in text:
            return role
    return None


def is_idle(place: Place, settings: Settings) -> bool:
    """Tell whether all publications are matched, and all matches are in mailboxes."""
    with ExitStack() as stack:
        published = stack.enter_context(closing(publications(place, settings).open()))
        matched = stack.enter_context(closing(matches(place, settings).open()))
        repository = stack.enter_context(closing(Repository.open(place.repository)))
        ends = published.ends()
        if committed(place.checkpoint, len(ends)) != ends:
            return False
        positions = [
            repository.mailbox.position(CONSUMER, partition)
            for partition in range(matched.partitions)
        ]
        return not any(
            matched.read(partition, position, max_records=1).num_rows
            for partition, position in enumerate(positions)
        )


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
