"""What `geocast up` says once it is ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocast.cli.service.supervisor import _say_how
from geocast.operate import Place, Settings


@pytest.mark.parametrize(
    ("data", "host", "port", "options"),
    [
        ("geocast-data", "127.0.0.1", 8400, ""),
        ("geocast-data", "127.0.0.1", 8455, " --url http://127.0.0.1:8455"),
        ("other", "0.0.0.0", 8400, " --data other"),
        ("my [red]data", "127.0.0.1", 8400, " --data 'my [red]data'"),
        ("geocast-data", "10.1.2.3", 8400, " --url http://10.1.2.3:8400 --data geocast-data"),
    ],
)
def test_the_commands_that_it_suggests_find_the_service_and_the_token(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data: str,
    host: str,
    port: int,
    options: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    _say_how(Place(tmp_path / data), Settings.of(host=host, port=port), 1.0, "c0de")
    said = capsys.readouterr().err
    assert f"  geocast subscribe{options} --bbox 5,45,15,55 --listen\n" in said
    assert f"| geocast publish{options} -\n" in said
    assert f"token of the account admin: {data}/admin-token\n" in said
    reachable = {"0.0.0.0": "127.0.0.1"}.get(host, host)
    assert f"  open http://{reachable}:{port}/#link=c0de to see the map" in said
    assert f"`geocast link{options}`" in said
