from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from geocast.errors import InputError
from geocast.pipeline import check_master, spark_session
from geocast.pipeline.session import is_local, settings


@pytest.mark.parametrize("master", ["", "nonsense", "local[", "http://host", "local[2] x"])
def test_what_is_not_a_master_is_refused(master: str) -> None:
    with pytest.raises(InputError, match="is not a Spark master"):
        check_master(master)


@pytest.mark.parametrize(
    "master", ["local", "local[*]", "local[3]", "local-cluster[2,1,1024]", "spark://h:7077", "yarn"]
)
def test_masters_are_accepted(master: str) -> None:
    check_master(master)


def test_without_java_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"none was found.*openjdk-17-jre-headless"):
        check_master("local[2]")


@pytest.mark.parametrize(("version", "major"), [("1.8.0_392", 8), ("11.0.20", 11)])
def test_an_old_java_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, major: int
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=f"is Java {major}; install one"):
        check_master("local[2]")


def test_only_local_masters_share_the_file_system_for_sure() -> None:
    assert is_local("local")
    assert is_local("local[4]")
    assert not is_local("local-cluster[2,1,1024]")
    assert not is_local("spark://host:7077")


def test_a_local_driver_listens_on_loopback_only() -> None:
    assert settings("local[2]")["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in settings("spark://host:7077")


@pytest.mark.spark
def test_a_running_session_is_used_and_left_running(spark: SparkSession) -> None:
    with spark_session("local[7]") as session:
        assert session is spark
    assert spark.range(3).count() == 3
