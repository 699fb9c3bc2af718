"""Apache Sedona's spatial join as a rival, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from geocast.bench.thesis import sedona_job
from geocast.bench.thesis.answers import digest_of_pairs
from geocast.bench.thesis.sedona_room import SedonaRoom
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.workloads import Files

__all__ = ["measure_sedona"]

_JOIN_SECONDS = 7_200
_PARTITIONED = {
    "spark.sql.extensions": "org.apache.sedona.sql.SedonaSqlExtensions",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.sedona.core.serde.SedonaKryoRegistrator",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "sedona.join.autoBroadcastJoinThreshold": "-1",
    "sedona.join.gridtype": "quadtree",
    "sedona.global.indextype": "quadtree",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "4",
}


def measure_sedona(room: SedonaRoom, setting: Setting, files: Files, out: Path) -> Found:
    """Join in another process; the subscriptions are read before, and partitioned each time."""
    python, library = room.open()
    out.mkdir(parents=True, exist_ok=True)
    subscriptions = out / "subscriptions.parquet"
    pq.write_table(files.subscriptions, subscriptions)
    asked = {
        "master": setting.master,
        "settings": _PARTITIONED | _own_settings(library, setting, _fewest(files)),
        "subscriptions": str(subscriptions),
        "warm": str(files.warm),
        "parts": str(files.parts),
        "out": str(out / "pairs"),
    }
    took = float(_run_job(python, asked)["seconds"])
    tables = [pq.read_table(path) for path in sorted((out / "pairs").glob("*.parquet"))]
    pairs, matches = digest_of_pairs(pa.concat_tables(tables), files)
    rate = files.publications.num_rows / took
    return Found(rate=rate, seconds=took, build_seconds=0.0, pairs=pairs, matches=matches)


def _fewest(files: Files) -> int:
    """Return the size of the smallest side of any of the joins."""
    counted = pc.value_counts(files.subscriptions["predicate"])
    sizes = [files.publications.num_rows, *counted.field("counts").to_pylist()]
    return int(min(sizes))


def _own_settings(library: Path, setting: Setting, fewest: int) -> dict[str, str]:
    return {
        "spark.jars": str(library),
        "sedona.global.index": str("sPIS" in setting.engine).lower(),
        # Sedona refuses to make more partitions than half of the records that they are made of.
        "sedona.join.numpartition": str(max(1, min(setting.cells, fewest // 2))),
    }


def _run_job(python: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Run the script in the environment, without the environment variables of this one."""
    foreign = ("SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    ran = subprocess.run(
        [str(python), str(sedona_job.__file__), json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=_JOIN_SECONDS,
        env=environment,
        check=False,
    )
    if ran.returncode == 0:
        return dict(json.loads(ran.stdout.splitlines()[-1]))
    raise RuntimeError(f"Sedona's process ended with {ran.returncode}: {ran.stderr[-2000:]}")
