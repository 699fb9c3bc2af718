"""The live stream with what it works on: opened, run, and looked after until it has to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession

from geocast.log import SqliteLog
from geocast.model import MICROSECONDS, now
from geocast.operate import Place, Settings, hold_lock
from geocast.pipeline.auto import DIVIDED, memory_at_hand
from geocast.pipeline.checkpoint import committed
from geocast.pipeline.keeper import SnapshotKeeper
from geocast.pipeline.live import QUERY, LiveStream
from geocast.pipeline.variants import DEFAULT, is_auto, parse_name
from geocast.repository import Repository
from geocast.snapshot import SnapshotStore
from geocast.snapshot.part import label_of

__all__ = ["State", "open_state", "run_stream"]

_log = logging.getLogger(__name__)
_CHECK_SECONDS: Final = 0.2
_DRAIN_SECONDS: Final = 15.0
_TIDY_SECONDS: Final = 60.0
_LEDGER_KEPT: Final = 100_000
_CELLS_OVER_LISTS: Final = 4
"""How much larger the index of RIS is, about, than divided parts, which have no cells."""


@dataclass(frozen=True, slots=True)
class State:
    """What a stream reads and writes in the data directory of a service."""

    place: Place
    settings: Settings
    repository: Repository
    log: SqliteLog
    keeper: SnapshotKeeper

    def tidy(self) -> None:
        """Let go of what is too old: matched publications, bad ones, the ledger's beginning.

        Spark may run its last batch again, so that one is kept whatever its age.
        """
        before = now() - int(self.settings.log_age * MICROSECONDS)
        keep = committed(self.place.checkpoint, self.log.partitions, but=1)
        self.log.expire(before=before, max_bytes=self.settings.log_size, keep=keep)
        self.repository.dead_letters.expire(before)
        self.repository.ledger.expire(QUERY, _LEDGER_KEPT)


@contextmanager
def open_state(place: Place, settings: Settings) -> Iterator[State]:
    """Open the state of a service for the length of the block; nothing is followed yet."""
    divider = parse_name(_algorithm(place, settings)).divider(settings.cells)
    with (
        closing(Repository.open(place.repository)) as repository,
        closing(SqliteLog.open(place.publications, settings.partitions)) as log,
        closing(SnapshotKeeper(repository, place, QUERY, divider)) as keeper,
    ):
        yield State(place, settings, repository, log, keeper)


def _algorithm(place: Place, settings: Settings) -> str:
    """Return the algorithm to use: where one is to be chosen, by the size of the snapshot."""
    if not is_auto(settings.algorithm):
        return settings.algorithm
    latest = SnapshotStore(place.snapshots).latest()
    size, limit = latest.bytes if latest is not None else 0, memory_at_hand()
    if latest is not None and any(label_of(part) for part in latest.parts):
        size *= _CELLS_OVER_LISTS
    chosen = DEFAULT if size <= limit else DIVIDED
    _log.info("algorithm", extra={"chosen": chosen, "snapshot_bytes": size, "at_hand": limit})
    return chosen


def run_stream(spark: SparkSession, state: State, stop: threading.Event) -> None:
    """Match until `stop` is set, then what is still there; raises what the stream dies of."""
    place = state.place
    stream = LiveStream(spark, place, state.settings, state.repository, state.log, state.keeper)
    state.keeper.start()
    stream.start()
    stream.wait_running(stop)
    with hold_lock(place.ready, f"the pipeline of {place.root}"):
        _log.info("ready")
        _watch(stream, state, stop)
    if not stream.drain(_DRAIN_SECONDS):
        _log.warning("publications are left in the log; they are matched after the next start")
    stream.stop()


def _watch(stream: LiveStream, state: State, stop: threading.Event) -> None:
    """Look after the stream until `stop` is set."""
    tidied = time.monotonic()
    while not stop.wait(_CHECK_SECONDS):
        stream.check()
        if time.monotonic() - tidied > _TIDY_SECONDS:
            tidied = time.monotonic()
            state.tidy()
