"""Which service a command talks to and as whom; and what it says where that fails."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocast.cli.app import app, run
from geocast.cli.talk.connect import explained
from geocast.client.core import UnreachableError
from geocast.client.wire import Failure
from geocast.model import Right
from tests.client.service import Service, running

COMMANDS = [
    ["publish", "-"],
    ["unpublish", "x"],
    ["subscribe", "--bbox", "0,0,1,1"],
    ["unsubscribe", "x"],
    ["subscriptions"],
    ["listen"],
    ["status"],
    ["account", "add", "x"],
    ["account", "list"],
    ["account", "token", "x"],
    ["account", "remove", "x"],
]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GEOCAST_URL", "GEOCAST_TOKEN", "GEOCAST_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("service")) as found:
        yield found


def complaint(capsys: pytest.CaptureFixture[str], status: int, *arguments: str) -> str:
    assert run(arguments) == status
    said = capsys.readouterr()
    assert said.out == ""
    [line] = said.err.splitlines()
    assert line.startswith("geocast: ")
    return line


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.parametrize("command", COMMANDS)
def test_a_service_that_is_not_there_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
) -> None:
    monkeypatch.setattr("geocast.client.core.backoff", lambda attempt: 0.0)
    url = f"http://127.0.0.1:{free_port()}"
    line = complaint(capsys, 1, *command, "--url", url)
    assert f"nothing answers at {url} (" in line
    assert f"`geocast up --port {url.rpartition(':')[2]}` starts a service there" in line
    assert "--url or GEOCAST_URL names another" in line
    assert "Errno" not in line


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("http://127.0.0.1:8400", "; `geocast up` starts a service there, --url or"),
        ("http://localhost", "; `geocast up --port 80` starts a service there, --url or"),
        ("http://[::1]:8400", "; --url or GEOCAST_URL names another service"),
        ("http://geocast.example:8400", "; --url or GEOCAST_URL names another service"),
    ],
)
def test_who_could_start_a_service_that_is_away(url: str, hint: str) -> None:
    said = str(explained(UnreachableError(url, Failure("[Errno -2] Name not known", sent=False))))
    assert said.startswith(f"nothing answers at {url} (Name not known){hint}")


def test_a_certificate_that_is_not_trusted_is_an_answer() -> None:
    failure = Failure("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed", sent=False)
    said = str(explained(UnreachableError("https://localhost:8400", failure)))
    assert said.startswith("cannot connect to https://localhost:8400 ([SSL: CERTIFICATE_VERIFY")
    assert "GEOCAST_CA names a file of certificates to trust" in said


def test_of_several_gateways_all_are_named() -> None:
    both = "http://127.0.0.1:1, http://127.0.0.1:2"
    said = str(explained(UnreachableError(both, Failure("refused", sent=False))))
    assert said.startswith(f"nothing answers at {both} (refused); `geocast up --port 1` starts")


def test_a_service_that_took_the_request_is_not_said_to_be_away() -> None:
    error = UnreachableError("http://127.0.0.1:8400", Failure("timed out", sent=True))
    assert explained(error) is error
    assert str(error) == "http://127.0.0.1:8400 cannot be reached: timed out"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stranger_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], service: Service, command: list[str]
) -> None:
    line = complaint(capsys, 2, *command, "--url", service.url)
    assert "a token is needed" in line
    assert "--token, GEOCAST_TOKEN or --data DIR" in line


def test_what_cannot_be_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'nowhere' is not the address" in complaint(capsys, 2, "status", "--url", "nowhere")


def test_the_token_of_a_data_directory(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    service: Service,
    tmp_path: Path,
) -> None:
    token = service.token("admin", *Right)
    monkeypatch.setenv("GEOCAST_URL", service.url)
    for folder in ("geocast-data", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "admin-token").write_text(token + "\n")
    assert run(["status"]) == 0
    (tmp_path / "geocast-data" / "admin-token").unlink()
    assert run(["status", "--data", "elsewhere"]) == 0
    assert run(["status", "--token", token]) == 0
    monkeypatch.setenv("GEOCAST_TOKEN", token)
    assert run(["status"]) == 0
    monkeypatch.setenv("GEOCAST_TOKEN", "")
    assert run(["status", "--data", "elsewhere"]) == 0
    capsys.readouterr()
    monkeypatch.delenv("GEOCAST_TOKEN")
    line = complaint(capsys, 2, "status", "--data", "missing")
    assert "missing/admin-token: cannot be read" in line


def test_an_administrators_token_stays_on_this_machine(tmp_path: Path) -> None:
    from geocast.cli.talk.connect import connect

    (tmp_path / "geocast-data").mkdir()
    (tmp_path / "geocast-data" / "admin-token").write_text("gct_secret\n")
    with connect("http://geocast.example", None, None) as client:
        assert client._core.token is None
    with connect("http://localhost:8400", None, None) as client:
        assert client._core.token == "gct_secret"


@pytest.mark.parametrize("command", [[*command, "--help"] for command in COMMANDS])
def test_every_command_has_help(command: list[str]) -> None:
    words = [word for word in command if word not in ("-", "x", "0,0,1,1", "--bbox")]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0
    assert "--url" in shown.output
