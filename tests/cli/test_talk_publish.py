"""`geocast publish`, against a real gateway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import shapely

from geocast.client import Client, Receipt
from geocast.client.core import UnreachableError
from geocast.client.wire import Failure
from geocast.files import write_features
from tests.cli.shell import Shell, feature

BOX = "-5,-5,5,5"
POINT = {"type": "Point", "coordinates": [1, 2]}


@pytest.mark.parametrize("kind", ["geojson", "geojsonl", "parquet"])
def test_any_format_can_be_published(shell: Shell, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"p.{kind}"
    table = pa.table(
        {
            "id": [f"{kind}{n}" for n in range(1_100)],
            "geometry": shapely.to_wkb(shapely.points([[n / 100, 0] for n in range(1_100)])),
            "mag": [n / 2 for n in range(1_100)],
        }
    )
    write_features(path, [table])
    out, err = shell.run("publish", str(path), "--ids")
    assert out == table["id"].to_pylist()
    assert "1,100 published, 0 known, 0 rejected" in err[-1]
    assert "0 published, 1,100 known, 0 rejected" in shell.run("publish", str(path))[1][-1]


@pytest.mark.parametrize(
    "text",
    [
        f"{feature('a')}\n{feature('b')}\n",
        f"\n{feature('a')}\r\n\n{feature('b')}",
        f"\x1e{feature('a')}\n\x1e{feature('b')}\n",
        "\x1e" + json.dumps(json.loads(feature("a")), indent=1) + "\n\x1e" + feature("b"),
        f'{{"type":"FeatureCollection","features":[{feature("a")},{feature("b")}]}}',
        f'{{"type":"FeatureCollection",\n"features":[\n{feature("a")},\n{feature("b")}\n]}}\n',
        "\ufeff" + feature("a") + "\n" + feature("b"),
    ],
)
def test_standard_input(shell: Shell, typed: Any, text: str) -> None:
    typed(text)
    out, err = shell.run("publish", "-", "--ids")
    assert out == ["a", "b"]
    assert "standard input: 2 published" in err[-1]


def test_a_feature_without_an_id_gets_one(shell: Shell, typed: Any) -> None:
    typed(json.dumps(json.loads(feature(None)), indent=2))
    [identifier], _ = shell.run("publish", "-", "--ids")
    assert len(identifier) == 32


def test_bad_features_are_reported_and_the_others_published(shell: Shell, typed: Any) -> None:
    bad = '{"type":"Feature","id":"bad","geometry":null,"properties":{}}'
    typed(f"{feature('a')}\nnonsense\n{bad}\n7\n{feature('b', 0, 99)}\n")
    out, err = shell.run("publish", "-", "--ids")
    assert out == ["a"]
    assert "1 published, 0 known, 4 rejected" in err[-1]
    assert err[-6] == "4 features rejected:"
    assert sorted(line.split(":")[0] for line in err[-5:-1]) == [
        "  row 1",
        "  row 2 (id 'bad')",
        "  row 3",
        "  row 4 (id 'b')",
    ]
    typed(bad)
    _, err = shell.run("publish", "-", status=2)
    assert err[0] == "1 feature rejected:"
    assert "none of the features can be used" in err[-1]
    typed(f"{bad}\n" * 6)
    assert shell.run("publish", "-", status=2)[1][0] == "6 features rejected; the first:"


def test_the_tally_is_told_once(shell: Shell, typed: Any) -> None:
    typed(feature("a"))
    _, [line] = shell.run("publish", "-")
    assert line.startswith("standard input: 1 published, 0 known, 0 rejected, in ")


def test_a_service_that_leaves_meanwhile(
    shell: Shell, typed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(client: Client, features: Any) -> Iterator[Receipt]:
        yield Receipt(0, "a")
        raise UnreachableError(shell.url, Failure("[Errno 111] Connection refused", sent=False))

    monkeypatch.setattr(Client, "publish_each", leave)
    typed(feature("a") + "\n")
    line = shell.complaint("publish", "-", status=1)
    assert line.startswith(f"geocast: nothing answers at {shell.url} (Connection refused); ")
    assert line.endswith("; before that: 1 published, 0 known, 0 rejected")


def test_nothing_to_publish(shell: Shell, typed: Any) -> None:
    typed("\n")
    assert "standard input: 0 published, 0 known, 0 rejected" in shell.run("publish", "-")[1][-1]


def test_input_that_cannot_be_published(shell: Shell, typed: Any, tmp_path: Path) -> None:
    assert "nowhere.geojson: no such file" in shell.complaint("publish", "nowhere.geojson")
    assert "p.csv" in shell.complaint("publish", str(tmp_path / "p.csv"))
    cut = tmp_path / "cut.geojson"
    cut.write_text(f'{{"type":"FeatureCollection","features":[{feature("a")},{{"type"')
    line = shell.complaint("publish", str(cut))
    assert str(cut) in line
    typed("nonsense\n")
    assert "standard input: not JSON" in shell.complaint("publish", "-")


def test_lines_are_published_as_they_come(shell: Shell) -> None:
    command = [
        sys.executable,
        "-c",
        "from geocast.cli import main; main()",
        "publish",
        "-",
        "--ids",
    ]
    environment = {**os.environ, "GEOCAST_URL": shell.url, "GEOCAST_TOKEN": shell.token}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for name in ("one", "two"):
            process.stdin.write(feature(name) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{name}\n"
        _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "2 published" in said
