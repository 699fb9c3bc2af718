from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from geocast.bench.data import ENVIRONMENT_VARIABLE, DataFolder
from geocast.cli.bench import app
from geocast.errors import InputError, UnknownNameError


def test_workload_writes_both_files_and_describes_them(data: DataFolder, tmp_path: Path) -> None:
    options = ["--kind", "points", "--subs", "50", "--pubs", "30", "--predicate", "intersects"]
    ran = CliRunner().invoke(app, ["workload", str(tmp_path), *options, "--data", str(data.path)])
    assert ran.exit_code == 0, ran.output
    subscriptions = pq.read_table(tmp_path / "subscriptions.parquet")
    assert subscriptions["predicate"].unique().to_pylist() == ["intersects"]
    assert pq.read_table(tmp_path / "publications.parquet").num_rows == 30
    assert "subscriptions: 50 rows" in ran.output


def test_core_reports_and_succeeds_where_answers_agree(data: DataFolder, tmp_path: Path) -> None:
    sizes = ["--subs", "60", "--pubs", "40", "--repetitions", "1", "--peer-seconds", "0.05"]
    what = ["--only", "thesis,points", "--peers", "shapely", "--out", str(tmp_path / "report")]
    ran = CliRunner().invoke(app, ["core", *what, *sizes, "--data", str(data.path)])
    assert ran.exit_code == 0, ran.output
    assert "Targets" in ran.output
    assert "geocast warm" in ran.output
    assert (tmp_path / "report" / "index.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["workload", "out", "--kind", "moon"], UnknownNameError),
        (["core", "--only", "moon"], UnknownNameError),
        (["core", "--only", "thesis", "--peers", "moon"], UnknownNameError),
        (["core", "--only", "thesis"], InputError),
        (["workload", "out"], InputError),
    ],
)
def test_bad_names_and_missing_data_are_told(
    arguments: list[str], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    ran = CliRunner().invoke(app, arguments)
    assert isinstance(ran.exception, error)
