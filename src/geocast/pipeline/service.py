"""The process that runs the live stream: `geocast run`."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Final

from geocast.log import SqliteLog
from geocast.model import MICROSECONDS, now
from geocast.operate import Place, Settings, hold_lock
from geocast.pipeline.archive import archive_options
from geocast.pipeline.checkpoint import committed
from geocast.pipeline.daemon import MODULE as DAEMON
from geocast.pipeline.keeper import SnapshotKeeper
from geocast.pipeline.live import QUERY, LiveStream
from geocast.pipeline.session import spark_session
from geocast.repository import Repository

__all__ = ["run_pipeline"]

_log = logging.getLogger(__name__)
_CHECK_SECONDS: Final = 0.2
_DRAIN_SECONDS: Final = 15.0
_TIDY_SECONDS: Final = 60.0
_LEDGER_KEPT: Final = 100_000

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
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.daemon.module": DAEMON,
}


def run_pipeline(
    place: Place,
    settings: Settings,
    master: str,
    stop: threading.Event,
    *,
    java: str | None = None,
) -> None:
    """Run the live stream until `stop` is set; then match what is there, and end.

    `java` are options for Spark's Java, by default those that use the archive of its classes.
    Raises what the stream dies of.
    """
    options = archive_options() if java is None else java
    streaming = _STREAMING | {"spark.driver.extraJavaOptions": f"{_JAVA} {options}"}
    with ExitStack() as stack:
        repository = stack.enter_context(closing(Repository.open(place.repository)))
        log = stack.enter_context(closing(SqliteLog.open(place.publications, settings.partitions)))
        keeper = stack.enter_context(closing(SnapshotKeeper(repository, place, QUERY)))
        spark = stack.enter_context(spark_session(master, streaming))
        stream = LiveStream(spark, place, settings, repository, log, keeper)
        keeper.start()
        stream.start()
        stream.wait_running(stop)
        with hold_lock(place.ready, f"the pipeline of {place.root}"):
            _log.info("ready")
            _watch(stream, stop, lambda: _tidy(place, settings, repository, log))
        if not stream.drain(_DRAIN_SECONDS):
            _log.warning("publications are left in the log; they are matched after the next start")
        stream.stop()
    _log.info("stopped")


def _watch(stream: LiveStream, stop: threading.Event, tidy: Callable[[], None]) -> None:
    """Look after the stream until `stop` is set."""
    tidied = time.monotonic()
    while not stop.wait(_CHECK_SECONDS):
        stream.check()
        if time.monotonic() - tidied > _TIDY_SECONDS:
            tidied = time.monotonic()
            tidy()


def _tidy(place: Place, settings: Settings, repository: Repository, log: SqliteLog) -> None:
    """Let go of what is too old: publications that are matched, bad ones, the ledger's beginning.

    Spark may run its last batch again, so that one is kept whatever its age.
    """
    before = now() - int(settings.log_age * MICROSECONDS)
    keep = committed(place.checkpoint, log.partitions, but=1)
    log.expire(before=before, max_bytes=settings.log_size, keep=keep)
    repository.dead_letters.expire(before)
    repository.ledger.expire(QUERY, _LEDGER_KEPT)
