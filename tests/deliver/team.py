"""Several processes that deliver together, as `geocast deliver` runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Team", "team"]


class Team:
    """Processes by name; each says what it does in a file of the directory."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = {**os.environ, **environment}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        command = [sys.executable, "-m", "geocast", "deliver", "--data", str(self._directory)]
        with self.journal(name).open("ab") as output:
            self._running[name] = subprocess.Popen(command, stderr=output, env=self._environment)

    def send(self, name: str, number: signal.Signals) -> None:
        self._running[name].send_signal(number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            self._running.pop(name).wait(30)

    def journal(self, name: str) -> Path:
        return self._directory / f"{name}.log"

    def stop(self) -> None:
        """Stop all in order, and see to it that nobody stays."""
        for process in self._running.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            for name, process in self._running.items():
                assert process.wait(30) == 0, f"{name}: {self.journal(name).read_text()[-2_000:]}"
        finally:
            for process in self._running.values():
                process.kill()
                process.wait()


@contextmanager
def team(directory: Path, environment: Mapping[str, str], *names: str) -> Iterator[Team]:
    """Run processes until the end of the block."""
    found = Team(directory, environment)
    try:
        for name in names:
            found.start(name)
        yield found
    finally:
        found.stop()
