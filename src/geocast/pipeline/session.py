"""A Spark session that is ready for matching and leaves the terminal alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from geocast.errors import InputError
from geocast.pipeline.archive import archive_options
from geocast.pipeline.home import spark_environment

__all__ = ["check_master", "is_local", "settings", "spark_session", "submitted_master"]

_OLDEST_JAVA = 17
_JAVA = "-XX:+UseParallelGC"
_INSTALL = "install one, for example: apt-get install openjdk-17-jre-headless"
_MASTER = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|(spark|k8s)://.+|yarn")


@contextmanager
def spark_session(
    master: str = "local[*]",
    more: Mapping[str, str] | None = None,
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[SparkSession]:
    """Give a session on `master` for the length of the `with` block, then stop it.

    `more` are Spark settings beside those of `settings`; `meanwhile` is called while Java starts.
    Where this process already has a session, that one is given and left running, whatever
    its master. What Spark and Java print goes to a temporary file and not to the terminal,
    because standard output may be carrying matches; where the start fails, the error quotes
    their last line. Raises InputError where Java is missing or too old, or `master` is none.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        meanwhile()
        yield running
        return
    session = _start(master, more or {}, meanwhile)
    try:
        yield session
    finally:
        session.stop()


def settings(master: str) -> dict[str, str]:
    """Return the Spark settings that matching wants on that master.

    Arrow batches are large, because a batch costs the same to hand over however full it is;
    their bytes are bounded for the sake of long polygons, to about what the processor's caches
    hold. Java collects its garbage in parallel: whole jobs are to end early, pauses do not matter.
    """
    common = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(8 << 20),
        "spark.sql.session.timeZone": "UTC",
    }
    if not is_local(master):
        return common
    loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    loopback["spark.driver.extraJavaOptions"] = f"{_JAVA} {archive_options()}".strip()
    return common | loopback | {"spark.python.unix.domain.socket.enabled": "true"}


def is_local(master: str) -> bool:
    """Tell whether the workers share the driver's machine, and so its file system."""
    return master == "local" or master.startswith("local[")


def submitted_master() -> str | None:
    """Return the master that `spark-submit` was given; None where it did not start this process."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    SparkContext._ensure_initialized()
    master: str | None = SparkConf().get("spark.master")
    return master


def check_master(master: str) -> None:
    """Raise InputError where no session can start: not a master, or no Java for Spark.

    Takes a moment only, so it can be asked before long work.
    """
    if not _MASTER.fullmatch(master):
        raise InputError(f"{master!r} is not a Spark master, such as local[4] or spark://host:7077")
    java = _java_command()
    if java is None:
        raise InputError(f"Spark needs Java {_OLDEST_JAVA} or newer and none was found; {_INSTALL}")
    version = _java_version(java)
    if version is not None and version < _OLDEST_JAVA:
        raise InputError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, but {java} is Java {version}; {_INSTALL}"
        )


def _java_command() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java")


def _java_version(java: str) -> int | None:
    """Return the major version (8 for "1.8.0_392"), or None where it cannot be told."""
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(found[1]) if found else None


def _start(master: str, more: Mapping[str, str], meanwhile: Callable[[], None]) -> SparkSession:
    check_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setMaster(master).setAppName("geocast")
    conf.setAll((settings(master) | dict(more)).items())
    with tempfile.TemporaryFile("w+", prefix="geocast-spark-") as output:
        with ThreadPoolExecutor(1) as pool:
            java = pool.submit(_start_java, conf, output, is_local(master))
            meanwhile()
        try:
            context = SparkContext(conf=conf, gateway=java.result())
        except (PySparkException, Py4JError) as error:
            reason = _last_line(output) or str(error).splitlines()[0]
            raise InputError(f"Spark does not start on {master!r}: {reason}") from error
    context.setLogLevel("ERROR")
    return SparkSession(context)


def _start_java(conf: SparkConf, output: IO[str], local: bool) -> JavaGateway:
    """Return the connection to Java, which is started unless this process has one."""
    if SparkContext._gateway is not None:
        return SparkContext._gateway
    with spark_environment(local):
        return launch_gateway(conf, {"stdout": output, "stderr": output})


def _last_line(output: IO[str]) -> str:
    output.seek(0)
    lines = [line.strip() for line in output if line.strip()]
    return lines[-1] if lines else ""
