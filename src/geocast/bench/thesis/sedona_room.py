"""An environment for Apache Sedona, made once in the user's cache.

Sedona does not support the Spark that Geocast runs on. So Ivy, which PySpark carries, fetches the
newest release of Sedona that can be had, and the PySpark that it fits is installed into a virtual
environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyspark

from geocast.bench.thesis.setting import NotMeasurableError

__all__ = ["RELEASES", "Release", "SedonaRoom", "environment_folder"]

_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Sedona's library for a line of Spark."""

    spark: str
    version: str

    @property
    def module(self) -> str:
        """The library's name where it is fetched from."""
        return f"sedona-spark-shaded-{self.spark}_2.13"

    def __str__(self) -> str:
        return f"{self.module} {self.version}"


RELEASES = (Release("4.1", "1.9.1"), Release("4.0", "1.8.0"))
"""The releases that are tried, in this order."""


def environment_folder() -> Path:
    """Return where the environment is kept: a folder in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "geocast" / "sedona"


class SedonaRoom:
    """The environment, made when it is first asked for; why it cannot be made is remembered."""

    def __init__(self, folder: Path, releases: tuple[Release, ...] = RELEASES) -> None:
        self._folder, self._releases = folder, releases
        self._reason: str | None = None

    def open(self) -> tuple[Path, Path]:
        """Return Python and Sedona's library; raises NotMeasurableError where they are not had."""
        if self._reason is not None:
            raise NotMeasurableError(self._reason)
        tried = []
        for release in self._releases:
            try:
                return self._installed(release)
            except (OSError, subprocess.SubprocessError) as error:
                tried.append(f"{release} ({_told(error)})")
        self._reason = f"no environment for Apache Sedona could be made; tried {'; '.join(tried)}"
        raise NotMeasurableError(self._reason)

    def _installed(self, release: Release) -> tuple[Path, Path]:
        home = self._folder / f"{release.spark}-{release.version}"
        python, library = home / "venv" / "bin" / "python", home / f"{release.module}.jar"
        if not (home / "done").exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            self._fetch(release, home)
            _run([sys.executable, "-m", "venv", str(home / "venv")])
            _run([str(python), "-m", "pip", "install", "--quiet", f"pyspark=={release.spark}.*"])
            (home / "done").touch()
        return python, library

    def _fetch(self, release: Release, home: Path) -> None:
        (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
        asked = ["-dependency", "org.apache.sedona", release.module, release.version]
        target = ["-retrieve", f"{home}/[artifact].[ext]", "-cache", str(self._folder / "ivy")]
        _run(["java", "-jar", str(ivy), "-notransitive", "-confs", "default", *asked, *target])


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)


def _told(error: OSError | subprocess.SubprocessError) -> str:
    if not isinstance(error, subprocess.CalledProcessError):
        return str(error)
    output: str = error.stdout + error.stderr
    lines = [line.strip() for line in output.splitlines()]
    telling = [line for line in lines if "not found" in line or "rror" in line]
    return (telling or [line for line in lines if line] or ["it ended without a word"])[-1]
