from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from geocast.bench.data import DataFolder
from geocast.bench.partitions import measure_partitions
from geocast.cli.bench import app
from geocast.match.partition import METHODS


def test_what_is_measured() -> None:
    """Four boxes in the corners of a square, one across it all, and one publication outside."""
    corners = [(x, y, x + 1, y + 1) for x in (0, 9) for y in (0, 9)]
    subscriptions = np.array([*corners, (0, 0, 10, 10)], np.float64)
    publications = np.array([[1, 1, 1, 1], [50, 50, 51, 51]], np.float64)
    (spread,) = measure_partitions(subscriptions, publications, 4, lambda _: None, ["EG"])
    assert (spread.method, spread.title) == ("EG", "equal grid")
    assert (len(spread.cut.cells), spread.empty, spread.in_overflow) == (4, 0, 0)
    assert spread.placements == pytest.approx(8 / 5)
    assert spread.travels == 1
    assert spread.fullest == pytest.approx(2 / (8 / 5))


def test_the_command_draws_and_tells(data: DataFolder, tmp_path: Path) -> None:
    options = ["partitions", "--subs", "200", "--pubs", "50", "--count", "16"]
    done = CliRunner().invoke(app, [*options, "--out", str(tmp_path), "--data", str(data.path)])
    assert done.exit_code == 0, done.output
    for method in METHODS.values():
        assert method.title in done.output
    assert "<svg" in (tmp_path / "partitions.svg").read_text()
    assert (tmp_path / "partitions.png").stat().st_size > 10_000
