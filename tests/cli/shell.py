"""Commands, run as an account of a real service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from geocast.cli.app import run
from geocast.client import Client
from geocast.model import Right
from tests.client.service import Service

__all__ = ["Shell", "feature"]


class Shell:
    """Runs commands as an account of its own."""

    def __init__(self, service: Service, capsys: pytest.CaptureFixture[str]) -> None:
        self.name = f"t{time.monotonic_ns()}"
        self.token = service.token(self.name, *Right)
        self.url = service.url
        self._capsys = capsys

    def run(self, *arguments: str, status: int = 0) -> tuple[list[str], list[str]]:
        """Run a command that ends with a status; return the lines of its two outputs."""
        self._capsys.readouterr()
        assert run([*arguments, "--url", self.url, "--token", self.token]) == status
        said = self._capsys.readouterr()
        assert "Traceback" not in said.err
        return said.out.splitlines(), said.err.splitlines()

    def complaint(self, *arguments: str, status: int = 2) -> str:
        out, err = self.run(*arguments, status=status)
        assert out == []
        assert err[-1].startswith("geocast: ")
        return err[-1]

    def client(self) -> Client:
        return Client(self.url, self.token)

    def subscribe(self, *arguments: str) -> str:
        """Subscribe and wait until that counts."""
        [identifier], _ = self.run("subscribe", *arguments)
        with self.client() as client:
            client.subscription(identifier).wait_active()
        return identifier

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command as a process of its own."""
        command = [sys.executable, "-c", "from geocast.cli import main; main()", *arguments]
        environment = {**os.environ, "GEOCAST_URL": self.url, "GEOCAST_TOKEN": self.token}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
        )


def feature(identifier: str | None, x: float = 1, y: float = 2, **properties: Any) -> str:
    members = {} if identifier is None else {"id": identifier}
    geometry = {"type": "Point", "coordinates": [x, y]}
    return json.dumps(
        {"type": "Feature", **members, "geometry": geometry, "properties": properties}
    )
