"""The receiver in docs/webhooks.md does what the page says."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocast.deliver.post import Answer
from tests.deliver.receiver import until
from tests.deliver.test_post import SECRET, notification, options, post

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def receiver() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "9000" in code
    process = subprocess.Popen(
        [sys.executable, "-c", code.replace("9000", str(port))],
        env={**os.environ, "SECRET": SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    until(lambda: listens(port))
    yield f"http://127.0.0.1:{port}/", process
    process.kill()
    process.communicate()


def test_the_receiver_of_the_documentation(receiver: tuple[str, subprocess.Popen[str]]) -> None:
    url, process = receiver
    assert post(url, options(), notification(1), secret="another") == [Answer(401)]
    assert post(url, options(), notification(2), secret=SECRET) == [Answer(204)]
    assert process.stdout is not None
    assert process.stdout.readline() == "event-2\n"
