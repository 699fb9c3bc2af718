"""A real broker for the tests, started by the project's own script."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["SERVERS_VARIABLE", "running_broker", "servers"]

SERVERS_VARIABLE = "GEOCAST_TEST_KAFKA"
SCRIPT = Path(__file__).parents[2] / "scripts" / "kafka.sh"


def servers() -> str:
    """Where the broker of this test session is; processes that tests start know it, too."""
    return os.environ[SERVERS_VARIABLE]


@contextmanager
def running_broker(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Give the address of a broker that keeps everything in a folder, and stop it in the end."""
    owner = {"BIN": str(Path(sys.executable).parent), "KAFKA_OWNER": str(os.getpid())}
    known = {**os.environ, **owner, **(environment or {})}
    started = subprocess.run(
        ["bash", str(SCRIPT), "start", str(folder)],
        env=known,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    try:
        if started.returncode:
            pytest.fail(f"no Kafka broker for the tests: {started.stderr.strip()}")
        yield started.stdout.strip().splitlines()[-1]
    finally:
        subprocess.run(["bash", str(SCRIPT), "stop", str(folder)], env=known, check=False)
