from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.shell import Shell
from tests.client.service import Service, running
from tests.pipeline.conftest import spark

__all__ = ["service", "shell", "spark", "typed"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def shell(service: Service, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(service, capsys)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put text on standard input."""

    def put(text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))

    return put
