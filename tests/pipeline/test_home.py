from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from geocast.pipeline.home import quick_home, spark_environment

NAMES = ("SPARK_HOME", "PYSPARK_DRIVER_PYTHON")


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A cache directory that is empty, and a user who has set nothing."""
    for name in (*NAMES, "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return monkeypatch


@pytest.mark.usefixtures("plain")
def test_the_home_has_all_of_spark_but_the_zip_file_of_pyspark() -> None:
    home = quick_home()
    assert home is not None
    installed = Path(pyspark.__file__).parent
    assert (home / "jars").samefile(installed / "jars")
    assert os.access(home / "bin" / "spark-submit", os.X_OK)
    assert not (home / "python").exists()


@pytest.mark.usefixtures("plain")
def test_the_home_is_made_once_and_leaves_nothing_beside_it() -> None:
    first = quick_home()
    assert first is not None
    made = first.stat().st_ctime_ns
    assert quick_home() == first
    assert first.stat().st_ctime_ns == made
    assert list(first.parent.iterdir()) == [first]


def test_without_a_place_for_it_there_is_none(plain: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    plain.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert quick_home() is None
    with spark_environment(local=True):
        assert not any(name in os.environ for name in NAMES)


@pytest.mark.usefixtures("plain")
def test_the_environment_holds_for_the_length_of_the_block() -> None:
    with spark_environment(local=True):
        assert os.environ["SPARK_HOME"] == str(quick_home())
        assert all(name in os.environ for name in NAMES)
    assert not any(name in os.environ for name in NAMES)


@pytest.mark.usefixtures("plain")
def test_workers_elsewhere_get_the_whole_home() -> None:
    with spark_environment(local=False):
        assert "SPARK_HOME" not in os.environ


@pytest.mark.parametrize("name", [*NAMES, "PYSPARK_PYTHON"])
def test_what_the_user_has_set_stays(plain: pytest.MonkeyPatch, name: str) -> None:
    plain.setenv(name, "/somewhere/else")
    before = dict(os.environ)
    with spark_environment(local=True):
        assert dict(os.environ) == before


@pytest.mark.spark
def test_workers_import_the_installed_pyspark(spark: SparkSession) -> None:
    rows = spark.range(1).mapInArrow(where_pyspark_is, "path string").collect()
    assert rows[0]["path"] == pyspark.__file__


def where_pyspark_is(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"path": [pyspark.__file__]})
