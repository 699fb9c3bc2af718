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

from geocast.log import Log, kafka_options, publications
from geocast.model import MICROSECONDS, now
from geocast.operate import Place, Settings, hold_lock
from geocast.pipeline.auto import DIVIDED, memory_at_hand
from geocast.pipeline.checkpoint import committed
from geocast.pipeline.keeper import SnapshotKeeper
from geocast.pipeline.live import QUERY, LiveStream
from geocast.pipeline.reach import reach
from geocast.pipeline.variants import DEFAULT, is_auto, parse_name
from geocast.repository import Repository, joined
from geocast.snapshot import SnapshotStore
from geocast.snapshot.part import label_of

__all__ = ["State", "open_state", "run_stream"]

_log = logging.getLogger(__name__)
_CHECK_SECONDS: Final = 0.2
_DRAIN_SECONDS: Final = 15.0
_TIDY_SECONDS: Final = 60.0
_CLAIM_SECONDS: Final = 3_600.0
_LEDGER_KEPT: Final = 100_000
_PATIENCE: Final = 300.0
"""How long a batch waits for a repository that cannot be reached, before the stream gives up."""

_CELLS_OVER_LISTS: Final = 4
"""How much larger the index of RIS is, about, than divided parts, which have no cells."""


@dataclass(frozen=True, slots=True)
class State:
    """What a stream reads and writes in the data directory of a service."""

    place: Place
    settings: Settings
    repository: Repository
    log: Log
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
        closing(Repository.open(place.repository, patience=_PATIENCE)) as repository,
        closing(publications(place, settings).open()) as log,
        closing(SnapshotKeeper(repository, place, QUERY, divider)) as keeper,
    ):
        if settings.log:
            _claim(settings, repository.deployment)
        yield State(place, settings, repository, log, keeper)


def _claim(settings: Settings, deployment: str) -> None:
    """Raise StateError where the topics are those of another installation."""
    from geocast.log.kafka.owner import claim

    options = kafka_options(settings)
    claim(options, f"{options.prefix}.publications", deployment)


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
    place, settings, repository = state.place, state.settings, state.repository
    with reach(spark.sparkContext, place, settings, repository.deployment) as found:
        stream = LiveStream(spark, place, settings, repository, state.log, state.keeper, found)
        state.keeper.start()
        stream.start()
        stream.wait_running(stop)
        # Gateways on other machines have to know that publications are being matched.
        with (
            hold_lock(place.ready, f"the pipeline of {place.root}"),
            joined(place.repository, "pipeline"),
        ):
            _log.info("ready")
            _watch(stream, state, stop)
        if not stream.drain(_DRAIN_SECONDS):
            _log.warning("publications are left in the log; they are matched after the next start")
        stream.stop()


def _tidy(state: State) -> None:
    """Remove what is no longer needed; what cannot be removed now is there the next time."""
    try:
        state.tidy()
    except Exception:
        _log.exception("cannot remove what is no longer needed; trying again later")


def _watch(stream: LiveStream, state: State, stop: threading.Event) -> None:
    """Look after the stream until `stop` is set."""
    tidied = claimed = time.monotonic()
    while not stop.wait(_CHECK_SECONDS):
        stream.check()
        if state.settings.log and time.monotonic() - claimed > _CLAIM_SECONDS:
            claimed = time.monotonic()
            _claim(state.settings, state.repository.deployment)
        if time.monotonic() - tidied > _TIDY_SECONDS:
            tidied = time.monotonic()
            _tidy(state)
