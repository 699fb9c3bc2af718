"""One Spark session at a time, kept as long as the next measurement wants the same master."""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql import SparkSession

from geocast.errors import InputError
from geocast.pipeline import spark_session
from geocast.pipeline.archive import archive_options
from geocast.pipeline.daemon import MODULE as DAEMON
from geocast.pipeline.session import is_local

__all__ = ["DRIVER_MEMORY", "Sessions"]

DRIVER_MEMORY = "4g"
"""What Java may take where driver and executors are one process."""

_SETTINGS = {
    "spark.driver.memory": DRIVER_MEMORY,
    "spark.scheduler.mode": "FAIR",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.daemon.module": DAEMON,
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


class Sessions:
    """Opens sessions and closes them; `java` are options of Java beside the usual ones."""

    def __init__(self, java: str) -> None:
        options = f"{archive_options()} {java}".strip()
        self._local = {"spark.driver.extraJavaOptions": options}
        self._stack = ExitStack()
        self._master: str | None = None
        self._session: SparkSession | None = None

    def has(self, master: str) -> bool:
        """Tell whether a session on that master is open, and has been used."""
        return self._session is not None and self._master == master

    def open(self, master: str, *, fresh: bool) -> SparkSession:
        """Return a session on that master; a fresh one has workers that have done nothing."""
        if self._session is not None and self.has(master) and not fresh:
            return self._session
        self.close()
        more = _SETTINGS | (self._local if is_local(master) else {})
        session = self._stack.enter_context(spark_session(master, more))
        if session.sparkContext.master != master:
            running = session.sparkContext.master
            raise InputError(f"this process has a Spark session on {running}, not on {master}")
        self._session, self._master = session, None if fresh else master
        return session

    def close(self) -> None:
        """Stop the session, if there is one."""
        self._stack.close()
        self._session = self._master = None
