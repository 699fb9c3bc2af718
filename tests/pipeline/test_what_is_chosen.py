"""`geocast bench auto`, here because the tests of this folder share one Spark session."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from geocast.bench.auto import Chosen, count_auto, run_auto
from geocast.bench.data import DataFolder
from geocast.bench.report.auto import auto_table
from geocast.bench.suite import sized
from geocast.bench.thesis.scale import SCALES
from geocast.pipeline import REPRESENTATIVES
from tests.bench.fakes import write_fake_data

RATES = dict.fromkeys(REPRESENTATIVES, 100.0) | {"auto": 90.0, "sPS{QT}": 120.0}


def test_the_best_representative_counts() -> None:
    one = Chosen("thesis", "RIS", RATES, agree=True)
    assert one.best == "sPS{QT}"
    assert one.ratio == pytest.approx(0.75)
    assert auto_table([one]).row_count == 1


@pytest.mark.spark
def test_what_is_chosen_meets_the_representatives(spark: SparkSession, tmp_path: Path) -> None:
    write_fake_data(tmp_path)
    recipes = {"thesis": sized("thesis", 60, 40, 1)}
    told: list[str] = []
    [found] = run_auto(recipes, DataFolder(tmp_path), SCALES["small"], 2, 1, told.append)
    assert spark.range(3).count() == 3, "a session that was there is left running"
    assert len(told) == count_auto(recipes, 1)
    assert found.agree
    assert set(found.rates) == {"auto", *REPRESENTATIVES}
    assert found.name in ("RIS", "RIS[HT]")
