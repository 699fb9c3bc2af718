"""Throughput of a Spark job as `geocast match` runs it: workers read the files themselves.

A DataFrame's publications travel from Parquet through Java to Python. Here they do not: a task gets
the numbers of rows, reads these with Arrow, and writes a piece of the answer, which the driver
joins with the others.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from pyspark.sql import SparkSession

from geocast.bench.thesis.answers import digest_of_files
from geocast.bench.thesis.door import Algorithm, match_file, prepared
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.workloads import Files

__all__ = ["measure_match"]


def measure_match(session: SparkSession, setting: Setting, files: Files, room: Path) -> Found:
    """Match a few publications first, where the setting has them, then all; the second job counts.

    Counted are looking for ids that occur twice, matching, and writing the answer.
    """
    began = time.perf_counter()
    algorithm = prepared(setting.engine, files.subscriptions, setting.cells)
    built = time.perf_counter() - began
    if any(files.warm.iterdir()):
        _timed(session, algorithm, files.warm, room)
    took = _timed(session, algorithm, files.parts, room)
    pairs, matches = digest_of_files(room / "out", files)
    rate = files.publications.num_rows / took
    return Found(rate=rate, seconds=took, build_seconds=built, pairs=pairs, matches=matches)


def _timed(session: SparkSession, algorithm: Algorithm, parts: Path, room: Path) -> float:
    for name in ("out", "pieces"):
        shutil.rmtree(room / name, ignore_errors=True)
        (room / name).mkdir(parents=True)
    began = time.perf_counter()
    match_file(session, algorithm, parts, room / "pieces", room / "out" / "matches.parquet")
    return time.perf_counter() - began
