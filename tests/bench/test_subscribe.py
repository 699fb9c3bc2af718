from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from geocast.bench.data import DataFolder
from geocast.bench.report.activation import activation_table
from geocast.bench.subscribe import (
    CHANGES,
    Activation,
    _is_correct,
    count_rounds,
    run_subscribe,
    summarised,
)
from geocast.cli.bench import app
from geocast.errors import InputError


def activation(standing: int, changes: int, seconds: float, correct: bool) -> Activation:
    return Activation(standing, changes, 0, seconds, 0.1, 0.1, seconds, 100, 5000, correct)


def test_a_wrong_answer_is_noticed() -> None:
    good = np.array([[0, 7], [1, 8], [1, 99], [3, 50]])
    assert _is_correct(good, range(7, 9), range(2))
    assert not _is_correct(good[1:], range(7, 9), range(2)), "a new one does not match"
    assert not _is_correct(np.append(good, [[2, 1]], 0), range(7, 9), range(2)), "an old one does"
    assert not _is_correct(good[:0], range(7, 9), range(2))


def test_medians_are_told_and_one_wrong_answer_spoils_all() -> None:
    found = [activation(10, 1, seconds, seconds < 3) for seconds in (1.0, 3.0, 2.0)]
    (middle,) = summarised(found)
    assert (middle.seconds, middle.correct) == (2.0, False)
    assert activation_table([*found, activation(20, 10, 1.0, True)]).row_count == 2


def test_every_change_counts_in_the_other_process(data: DataFolder, tmp_path: Path) -> None:
    options = ["--sizes", "600", "--repetitions", "1", "--out", str(tmp_path)]
    ran = CliRunner().invoke(app, ["subscribe", *options, "--data", str(data.path)])
    assert ran.exit_code == 0, ran.output
    assert "correct" in ran.output
    assert (tmp_path / "activations.png").is_file()
    found = pq.read_table(tmp_path / "activations.parquet").to_pylist()
    assert [one["changes"] for one in found] == [*CHANGES]
    assert all(one["correct"] and one["standing"] == 600 for one in found)
    assert all(one["seconds"] >= one["apply_seconds"] + one["match_seconds"] for one in found)
    assert all(0 < one["written"] < one["standing_bytes"] / 4 for one in found)


def test_rounds_are_announced_and_repeated(data: DataFolder) -> None:
    heard: list[str] = []
    found = run_subscribe([600], data, 2, 1, heard.append)
    assert len(heard) == count_rounds([600], 2)
    assert [(one.repetition, one.changes) for one in found] == [
        (repetition, changes) for repetition in range(2) for changes in CHANGES
    ]
    assert all(one.correct for one in found)


@pytest.mark.parametrize("sizes", ["many", "10,0", "-5", "1e4"])
def test_sizes_are_whole_numbers(sizes: str, data: DataFolder) -> None:
    ran = CliRunner().invoke(app, ["subscribe", "--sizes", sizes, "--data", str(data.path)])
    assert isinstance(ran.exception, InputError)
