"""Throughput of a Spark job, Parquet to Parquet."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from geocast.bench.thesis.answers import digest_of_files
from geocast.bench.thesis.door import matched, prepared
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.workloads import Files

__all__ = ["BatchJob", "measure_batch", "read_parts"]

_ONE_TASK_A_FILE = str(1 << 30)


def measure_batch(session: SparkSession, setting: Setting, files: Files, room: Path) -> Found:
    """Match a few publications first, where the setting has them, then all; the second job counts.

    So Java and the workers are warm, and where nothing is divided have the index open, but have not
    seen the publications that count.
    """
    job = BatchJob(session, setting, files, room)
    job.warm()
    return job.run()


class BatchJob:
    """An algorithm that is ready for the subscriptions of a workload."""

    def __init__(self, session: SparkSession, setting: Setting, files: Files, room: Path) -> None:
        self._session, self._files, self._room = session, files, room
        began = time.perf_counter()
        self.algorithm = prepared(setting.engine, files.subscriptions, setting.cells)
        self.build_seconds = time.perf_counter() - began

    def warm(self) -> None:
        """Match the few publications that do not count, if there are any."""
        if any(self._files.warm.iterdir()):
            self._write(self._files.warm)

    def run(self) -> Found:
        """Match all publications, and compare."""
        took = self._write(self._files.parts)
        pairs, matches = digest_of_files(self._room / "out", self._files)
        return Found(
            rate=self._files.publications.num_rows / took,
            seconds=took,
            build_seconds=self.build_seconds,
            pairs=pairs,
            matches=matches,
        )

    def _write(self, parts: Path) -> float:
        shutil.rmtree(self._room / "out", ignore_errors=True)
        frame = matched(self.algorithm, read_parts(self._session, parts))
        began = time.perf_counter()
        frame.write.parquet(str(self._room / "out"))
        return time.perf_counter() - began


def read_parts(session: SparkSession, directory: Path) -> DataFrame:
    """Return the publications of a folder, a task for each file."""
    session.conf.set("spark.sql.files.openCostInBytes", _ONE_TASK_A_FILE)
    return session.read.parquet(str(directory))
