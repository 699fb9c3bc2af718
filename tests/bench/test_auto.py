from __future__ import annotations

import subprocess
import sys

import pytest

from geocast.bench.auto import Chosen
from geocast.bench.data import DataFolder
from geocast.bench.report.auto import auto_table
from geocast.pipeline import REPRESENTATIVES

RATES = dict.fromkeys(REPRESENTATIVES, 100.0) | {"auto": 90.0, "sPS{QT}": 120.0}


def test_the_best_representative_counts() -> None:
    one = Chosen("thesis", "RIS", RATES, agree=True)
    assert one.best == "sPS{QT}"
    assert one.ratio == pytest.approx(0.75)
    assert auto_table([one]).row_count == 1


@pytest.mark.spark
def test_what_is_chosen_meets_the_representatives(data: DataFolder) -> None:
    command = [sys.executable, "-m", "geocast", "bench", "auto", "--only", "thesis"]
    ran = subprocess.run(
        [*command, "--pubs", "40", "--subs", "60", "--data", str(data.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    [row] = [line for line in ran.stdout.splitlines() if "thesis" in line]
    assert "RIS" in row
