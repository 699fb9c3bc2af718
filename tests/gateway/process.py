"""A gateway as a process of its own: python -m tests.gateway.process DIRECTORY PORT."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from geocast.gateway import run_gateway
from geocast.model import Right
from geocast.operate import Place, Settings, open_journal
from geocast.repository import Repository


@dataclass
class Process:
    """A running gateway, with a token that may do everything."""

    port: int
    token: str
    child: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, timeout: float = 10) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout, trust_env=False)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def terminate(self) -> tuple[int, float]:
        """Send SIGTERM; return the exit status and how long it took."""
        start = time.monotonic()
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(20), time.monotonic() - start


@contextmanager
def running(directory: Path) -> Iterator[Process]:
    """Run a gateway in a process, until it answers, and kill it in the end."""
    place = Place(directory)
    with closing(Repository.open(place.repository)) as repository:
        account = repository.accounts.add("alice", Right)
        _, token = repository.accounts.issue_token(account.number)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.gateway.process", str(directory), str(port)]
    with (directory / "journal").open("wb") as journal:
        child = subprocess.Popen(command, stderr=journal, env={**os.environ})
    found = Process(port, token, child)
    try:
        _wait_until_alive(found)
        yield found
    finally:
        child.kill()
        child.wait()


def _wait_until_alive(process: Process) -> None:
    end = time.monotonic() + 240
    with process.client() as client:
        while True:
            try:
                client.get("/healthz")
            except httpx.TransportError:
                assert process.child.poll() is None, "the gateway ended"
                assert time.monotonic() < end, "the gateway does not start"
                time.sleep(0.1)
            else:
                return


if __name__ == "__main__":
    open_journal("gateway")
    run_gateway(Place(Path(sys.argv[1])), Settings(port=int(sys.argv[2])))
