"""The process that runs the live stream: `geocast run`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from geocast.operate import Place, Settings
from geocast.pipeline.archive import archive_options
from geocast.pipeline.daemon import MODULE as DAEMON
from geocast.pipeline.reach import check_reachable, executor_environment
from geocast.pipeline.session import is_local, spark_session

if TYPE_CHECKING:
    from geocast.pipeline.running import State

__all__ = ["run_pipeline"]

_log = logging.getLogger(__name__)

# Java only plans and passes on here: it need not compile itself to the utmost while it starts.
_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# Hadoop's own way to write checkpoints starts a process (`chmod`) for every file.
_STREAMING: Final = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing"
        ".FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.driver.memory": "1g",
    "spark.python.daemon.module": DAEMON,
    # A worker that neither works nor ends would hold up the stream for ever.
    "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "300",
    "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
}


def run_pipeline(
    place: Place,
    settings: Settings,
    master: str,
    stop: threading.Event,
    *,
    java: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> None:
    """Run the live stream until `stop` is set; then match what is there, and end.

    `java` are options for Spark's Java, by default those that use the archive of its classes;
    `conf` are further settings of Spark. Raises what the stream dies of, and InputError where
    workers of that master could not do their work.
    """
    check_reachable(master, settings)
    options = archive_options() if java is None else java
    streaming = _STREAMING | {"spark.driver.extraJavaOptions": f"{_JAVA} {options}"}
    if not is_local(master):
        streaming |= executor_environment()
    streaming |= conf or {}
    with ExitStack() as stack:
        opened: list[State] = []

        def load() -> None:
            # To import this takes as long as Java takes to start.
            from geocast.pipeline.running import open_state

            opened.append(stack.enter_context(open_state(place, settings)))

        spark = stack.enter_context(spark_session(master, streaming, meanwhile=load))

        from geocast.pipeline.running import run_stream

        run_stream(spark, opened[0], stop)
    _log.info("stopped")
