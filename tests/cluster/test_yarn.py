"""The pipeline on YARN in cluster mode, as docs/cluster.md says; its driver is killed once.

What runs in containers has Geocast from the archive only, and its compiled kernels.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import httpx
import psutil
import pyspark
import pytest
from sqlalchemy.engine import make_url

from geocast.bench.service import free_port
from geocast.client import Client
from tests.kafka.world import expected, feature, standing, wait_heard
from tests.postgres import Server

BIN = Path(sys.executable).parent
SCRIPT = Path(__file__).parents[2] / "scripts" / "yarn.sh"
DRIVER = "org.apache.spark.deploy.yarn.ApplicationMaster"
EXECUTOR = "geocast.pipeline.daemon"
FEATURES = [feature(f"point-{n}", n % 40 - 10, 30 + n * 7 % 30) for n in range(400)]
pytestmark = [pytest.mark.service, pytest.mark.full, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([BIN / "geocast", "package", "--out", folder], check=True)
    return folder


@contextmanager
def running_yarn(folder: Path) -> Iterator[Path]:
    """Give the folder with the settings of a YARN that keeps everything in a folder."""
    known = {**os.environ, "BIN": str(BIN), "YARN_OWNER": str(os.getpid())}
    try:
        subprocess.run(["bash", SCRIPT, "start", folder], env=known, check=True)
        yield folder / "conf"
    finally:
        subprocess.run(["bash", SCRIPT, "stop", folder], env=known, check=True)


@contextmanager
def running(folder: Path, environment: dict[str, str], *words: str) -> Iterator[None]:
    """Run a command of Geocast for the length of the block."""
    command = [str(BIN / "geocast"), *words, "--data", str(folder)]
    with subprocess.Popen(command, env={**os.environ, **environment}) as process:
        try:
            yield
        finally:
            process.kill()


def submit(package: Path, conf: Path, data: Path, environment: dict[str, str]) -> None:
    """Hand the pipeline over to YARN; returns when YARN has taken it."""
    quick = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    settings = {
        "spark.yarn.submit.waitAppCompletion": "false",
        "spark.yarn.maxAppAttempts": "5",
        "spark.yarn.stagingDir": str(data),
        "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent}/jars/*",
        "spark.driver.extraJavaOptions": quick,
        "spark.executor.extraJavaOptions": quick,
        "spark.executor.instances": "1",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": "./environment/bin/python",
        "spark.executorEnv.GEOCAST_NODE_FOLDER": str(data / "copies"),
        **{f"spark.yarn.appMasterEnv.{name}": value for name, value in environment.items()},
    }
    command: list[str | Path] = [BIN / "spark-submit", "--master=yarn", "--deploy-mode=cluster"]
    command += ["--archives", "geocast-environment.tar.gz#environment"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += ["geocast_submit.py", "run", "--data", data / "pipeline"]
    known = {**os.environ, "HADOOP_CONF_DIR": str(conf), "SPARK_LOCAL_IP": "127.0.0.1"}
    known["PATH"] = f"{BIN}:{known['PATH']}"
    subprocess.run(command, cwd=package, env=known, check=True)


def in_containers(folder: Path, text: str) -> list[psutil.Process]:
    """Return the processes that work in containers and have a word on their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if folder / "local" in Path(process.cwd()).parents and text in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_ready(url: str, seconds: float = 900) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/readyz", timeout=5, trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    pytest.fail(f"publications are not matched after {seconds:.0f} s")


def test_every_match_is_told_once_though_the_driver_is_killed(
    package: Path, kafka: str, postgres: Server, tmp_path: Path
) -> None:
    yarn, port = tmp_path / "yarn", free_port()
    with ExitStack() as stack:
        url = make_url(stack.enter_context(postgres.database()))
        environment = {
            "GEOCAST_LOG": f"kafka://{kafka}/yarn",
            "GEOCAST_REPOSITORY": f"postgresql://{url.username}@{url.host}:{url.port}/{url.database}",
            "GEOCAST_REPOSITORY_PASSWORD_FILE": str(postgres.directory / "password"),
        }
        conf = stack.enter_context(running_yarn(yarn))
        gateway = running(tmp_path / "gateway", environment, "gateway", "--port", str(port))
        stack.enter_context(gateway)
        stack.enter_context(running(tmp_path / "deliver", environment, "deliver"))
        submit(package, conf, tmp_path, environment)
        service = f"http://127.0.0.1:{port}"
        wait_ready(service)

        token = (tmp_path / "gateway" / "admin-token").read_text().strip()
        with Client(service, token) as client:
            standing(client, "yarn")
            client.publish_many(FEATURES[:100])
            wanted = expected("yarn", FEATURES[:100])
            assert wait_heard(client, "yarn", wanted.total(), 300) == wanted
            assert packed(package)
            assert packed(package) == kernels(yarn)

            client.publish_many(FEATURES[100:200])
            killed = in_containers(yarn, DRIVER)
            assert len(killed) == 1
            killed[0].kill()
            client.publish_many(FEATURES[200:])
            wanted = expected("yarn", FEATURES)
            assert wait_heard(client, "yarn", wanted.total(), 600) == wanted
            assert len(in_containers(yarn, DRIVER)) == 1
            assert in_containers(yarn, DRIVER) != killed


def packed(package: Path) -> dict[str, bytes]:
    """The compiled kernels in the archive, by name."""
    with tarfile.open(package / "geocast-environment.tar.gz") as archive:
        found = [one for one in archive.getmembers() if one.name.endswith((".nbc", ".nbi"))]
        return {one.name: _digest(archive.extractfile(one)) for one in found}


def _digest(file: IO[bytes] | None) -> bytes:
    assert file is not None
    return hashlib.file_digest(file, "blake2b").digest()  # type: ignore[arg-type]


def kernels(yarn: Path) -> dict[str, bytes]:
    """The compiled kernels in the archive that executors run; what was missing was compiled."""
    workers = in_containers(yarn, EXECUTOR)
    assert workers
    packages = {Path(one.environ()["PYTHONPATH"].partition(":")[0]) for one in workers}
    assert len(packages) == 1
    home = packages.pop().parent
    assert yarn / "local" in home.parents
    found = {}
    for path in home.rglob("*.nb[ci]"):
        with path.open("rb") as file:
            found[str(path.relative_to(home))] = _digest(file)
    return found
