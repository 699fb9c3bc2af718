from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import geocast
from tests.pipeline.generate import as_dict, publications, subscriptions

pytestmark = pytest.mark.spark

COMMAND = [sys.executable, "-c", "from geocast.cli import main; main()", "match"]


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    pq.write_table(subscriptions(), tmp_path / "s.parquet")
    pq.write_table(publications(), tmp_path / "p.parquet")
    return [str(tmp_path / "s.parquet"), str(tmp_path / "p.parquet")]


def test_standard_output_carries_matches_and_nothing_else(inputs: list[str]) -> None:
    command = [*COMMAND, *inputs, "-o", "-", "--master", "local[2]"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    expected = as_dict(geocast.match(subscriptions(), publications()))
    assert {row["publication"]: row["subscriptions"] for row in found} == expected
    steps = [line.split(":")[0] for line in done.stderr.splitlines()]
    assert steps == [
        "reading subscriptions",
        "building the index",
        "opening publications",
        "starting Spark",
        "matching",
        "writing matches",
        "standard output",
    ]


def test_an_interruption_stops_cleanly(inputs: list[str], tmp_path: Path) -> None:
    command = [*COMMAND, *inputs, "-o", str(tmp_path / "m.parquet"), "--partitions", "400"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, process_group=0)
    assert process.stderr is not None
    said = [process.stderr.readline() for _ in range(4)]
    assert said[3].startswith("starting Spark")
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130
    assert rest == "geocast: interrupted\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.parquet", "s.parquet"]
