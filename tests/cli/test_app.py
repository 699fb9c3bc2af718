from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from geocast.cli.app import app, run
from tests.pipeline.generate import publications, subscriptions


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    pq.write_table(subscriptions(), tmp_path / "s.parquet")
    pq.write_table(publications(), tmp_path / "p.parquet")
    return [str(tmp_path / "s.parquet"), str(tmp_path / "p.parquet")]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    [*progress, line] = said.err.splitlines()
    assert all(": " in step for step in progress)
    assert line.startswith("geocast: ")
    assert "Traceback" not in said.err
    return line


def test_version_and_help() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output == f"geocast {version('geocast')}\n"
    for arguments in ([], ["--help"]):
        shown = runner.invoke(app, arguments)
        assert shown.exit_code == 0
        assert all(word in shown.output for word in ("match", "demo", "bench", "--version"))
    shown = runner.invoke(app, ["match", "--help"])
    options = ("--output", "--algorithm", "--partitions", "--master", "--rejects", "--pairs")
    assert all(option in shown.output for option in options)


@pytest.mark.parametrize("group", ["account", "bench"])
def test_a_group_alone_shows_its_help(capsys: pytest.CaptureFixture[str], group: str) -> None:
    assert run([group]) == 2
    said = capsys.readouterr()
    assert f"Usage: geocast {group}" in said.out
    assert said.err == ""


def test_help_needs_neither_spark_nor_numba() -> None:
    code = (
        "import sys; from geocast.cli.app import run; assert run(['match', '--help']) == 0; "
        "heavy = {'pyspark', 'numba', 'pandas', 'shapely', 'pyarrow'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "nonsense"),
        (["--nonsense"], "--nonsense"),
        (["match"], "SUBSCRIPTIONS"),
        (["match", "s.parquet", "p.parquet"], "--output"),
        (["match", "s.parquet", "p.parquet", "extra", "-o", "m.parquet"], "extra"),
        (["match", "s.parquet", "p.parquet", "-o", "m.parquet", "--partitions", "x"], "partitions"),
        (["match", "s.parquet", "p.parquet", "-o", "m.parquet", "--partitions", "0"], "partitions"),
        (["match", "s.parquet", "p.parquet", "-o", "m.parquet", "--nonsense"], "--nonsense"),
    ],
)
def test_a_usage_error_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["nonsense"], "geocast"),
        (["--nonsense"], "geocast"),
        (["match"], "geocast match"),
        (["subscribe", "--nonsense"], "geocast subscribe"),
        (["listen", "--count", "x"], "geocast listen"),
        (["account", "nonsense"], "geocast account"),
        (["account", "add"], "geocast account add"),
    ],
)
def test_a_usage_error_points_to_the_help_of_the_command(
    capsys: pytest.CaptureFixture[str], arguments: list[str], command: str
) -> None:
    assert complaint(capsys, *arguments).endswith(f"(see {command} --help)")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["subscribe", "--geometry", ""], "'--geometry': the area is empty"),
        (["subscribe", "--geometry", "  "], "'--geometry': the area is empty"),
        (["subscribe", "--bbox", ""], "'--bbox': the area is empty"),
        (["subscribe", "--filter", ""], "'--filter': the filter is empty"),
        (["subscribe", "--predicate", ""], "'--predicate': the predicate is empty"),
        (["subscribe", "--id", ""], "'--id': the id is empty"),
        (["subscribe", "--webhook", ""], "'--webhook': the URL is empty"),
        (["status", "--token", ""], "'--token' (env var: 'GEOCAST_TOKEN'): the token is empty"),
        (["listen", "--subscription", ""], "'--subscription': the id is empty"),
        (["publish", ""], "'FILE': the name of the file is empty"),
        (["unpublish", ""], "'ID': the id is empty"),
        (["unsubscribe", ""], "'ID': the id is empty"),
        (["account", "add", ""], "'NAME': the name is empty"),
    ],
)
def test_an_empty_value_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert f"Invalid value for {words} (see geocast " in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "m.txt"], "m.txt"),
        (["-o", "nowhere/m.parquet"], "nowhere"),
        (["-o", "m.parquet", "--rejects", "r.csv"], "r.csv"),
        (["-o", "m.parquet", "--rejects", "m.parquet"], "the other output"),
        (["-o", "-", "--rejects", "-"], "the other output"),
        (["-o", "m.parquet", "--algorithm", "SPS"], "unknown algorithm 'SPS'; there are: RIS"),
        (["-o", "m.parquet", "--master", "mesos"], "'mesos' is not a Spark master"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    inputs: list[str],
    options: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(Path(inputs[0]).parent)
    assert words in complaint(capsys, "match", *inputs, *options)


def test_an_output_may_not_be_an_input(
    capsys: pytest.CaptureFixture[str], inputs: list[str]
) -> None:
    content = Path(inputs[1]).read_bytes()
    assert "an input" in complaint(capsys, "match", *inputs, "-o", inputs[1])
    assert Path(inputs[1]).read_bytes() == content


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    "kind", ["missing", "suffix", "truncated", "not Parquet", "no id", "wrong geometry", "cut JSON"]
)
def test_an_unreadable_input_is_one_line_that_names_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, inputs: list[str], side: int, kind: str
) -> None:
    name = {"suffix": "bad.csv", "cut JSON": "bad.geojson"}.get(kind, "bad.parquet")
    _spoil(tmp_path / name, Path(inputs[side]), kind)
    inputs[side] = str(tmp_path / name)
    line = complaint(capsys, "match", *inputs, "-o", str(tmp_path / "m.parquet"))
    assert name in line
    assert not (tmp_path / "m.parquet").exists()


def _spoil(bad: Path, good: Path, kind: str) -> None:
    table = pq.read_table(good)
    if kind in ("suffix", "not Parquet"):
        bad.write_text("id,geometry")
    elif kind == "truncated":
        bad.write_bytes(good.read_bytes()[:-100])
    elif kind == "no id":
        pq.write_table(table.drop_columns(["id"]), bad)
    elif kind == "wrong geometry":
        texts = pa.array(["POINT (1 1)"] * table.num_rows)
        pq.write_table(table.set_column(1, "geometry", texts), bad)
    elif kind == "cut JSON":
        bad.write_text('{"type": "FeatureCollection", "features": [{"type": "Feat')


def test_publications_without_a_geometry_column_are_unreadable(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, inputs: list[str]
) -> None:
    pq.write_table(publications().drop_columns(["geometry"]), inputs[1])
    line = complaint(capsys, "match", *inputs, "-o", str(tmp_path / "m.parquet"))
    assert "p.parquet: no column `geometry`" in line
