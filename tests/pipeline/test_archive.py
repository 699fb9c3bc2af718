from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from geocast.pipeline import archive
from geocast.pipeline.session import settings


def test_java_is_told_of_an_archive_only_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "SharedArchiveFile" not in settings("local[2]")["spark.driver.extraJavaOptions"]
    archive.archive_file().parent.mkdir(parents=True)
    archive.archive_file().touch()
    told = settings("local[2]")["spark.driver.extraJavaOptions"]
    assert f"-XX:SharedArchiveFile={archive.archive_file()}" in told
    assert archive.archive_file().is_relative_to(tmp_path)


def test_another_java_has_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = archive.archive_file()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert archive.archive_file() != before


def test_an_archive_that_cannot_be_made_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    environment = {
        "JAVA_HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, "-m", "geocast.pipeline.archive"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "could not be kept, so Spark starts more slowly" in done.stdout
    assert not list((tmp_path / "geocast" / "java").iterdir())
