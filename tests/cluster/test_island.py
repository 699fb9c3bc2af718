"""A network namespace for a broker: cut off, joined again, and never left behind.

Where this process may make none, what is tested is that there is none.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocast.bench.cluster.island import Island

PORT = 9092
LISTEN = f"import socket, time; s = socket.create_server(('0.0.0.0', {PORT})); time.sleep(60)"
ABANDON = (
    "import os; from geocast.bench.cluster.island import Island; island = Island(); island.make(); "
    "print(island.name, flush=True); os.kill(os.getpid(), 9)"
)


@pytest.fixture
def island() -> Iterator[Island]:
    made = Island()
    made.make()
    yield made
    made.remove()


def traces(name: str) -> list[Path]:
    """What there is of a namespace and its link."""
    places = [Path("/run/netns") / name, Path("/sys/class/net") / name]
    return [place for place in places if place.exists()]


def answers(island: Island) -> bool:
    try:
        socket.create_connection((island.inside, PORT), timeout=1).close()
    except OSError:
        return False
    return True


def test_what_is_cut_off_does_not_answer_until_it_is_joined(island: Island) -> None:
    if not island.is_there:
        assert traces(island.name) == []
        return
    command = ["nsenter", f"--net=/run/netns/{island.name}", sys.executable, "-c", LISTEN]
    with subprocess.Popen(command) as server:
        try:
            deadline = time.monotonic() + 30
            while not answers(island) and time.monotonic() < deadline:
                time.sleep(0.1)
            found = [answers(island)]
            island.cut()
            found.append(answers(island))
            island.join()
            found.append(answers(island))
        finally:
            server.kill()
    assert found == [True, False, True]


def test_nothing_is_left_of_it(island: Island) -> None:
    assert len(traces(island.name)) == (2 if island.is_there else 0)
    island.remove()
    assert traces(island.name) == []
    island.remove()


def test_what_a_killed_process_left_behind_is_removed_by_the_next(island: Island) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", ABANDON], capture_output=True, text=True, check=False
    )
    abandoned = killed.stdout.strip()
    assert abandoned != island.name
    assert len(traces(abandoned)) == (2 if island.is_there else 0)
    Island().make()
    assert traces(abandoned) == []


def test_where_it_is_not_allowed_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    island = Island()
    island.make()
    assert not island.is_there
    assert traces(island.name) == []
