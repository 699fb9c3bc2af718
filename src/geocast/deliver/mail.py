"""From the log of matches into mailboxes: each match once, whatever is killed and restarted."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

import orjson

from geocast.model import MICROSECONDS, MatchRecord, now
from geocast.operate import metrics
from geocast.repository import DeadLetter

if TYPE_CHECKING:
    import pyarrow as pa

    from geocast.log import Log
    from geocast.repository import Repository

__all__ = ["CONSUMER", "Mailman"]

CONSUMER: Final = "deliver"
"""The name under which the delivery's position in the log of matches is kept."""

_IDLE_SECONDS: Final = 0.02
_LONGEST_WAIT: Final = 5.0
_LAST_SECONDS: Final = 10.0
_log: Final = logging.getLogger(__name__)


class Mailman:
    """Moves what is new in the log of matches into mailboxes.

    How far it came is stored by the same transaction that fills the mailboxes; so nothing is
    lost or repeated wherever it stops. Only one may run at a time for a consumer's name: of two,
    one at a time gets a StateError and tries again.
    """

    def __init__(
        self,
        log: Log,
        repository: Repository,
        consumer: str = CONSUMER,
        *,
        max_records: int = 2_000,
    ) -> None:
        self._matches = log
        self._repository = repository
        self._consumer = consumer
        self._max_records = max_records
        self._positions: dict[int, int] = {}

    def step(self) -> int:
        """Move one batch of each partition and return how many records of the log that took."""
        return sum(self._move(partition) for partition in range(self._matches.partitions))

    def run(self, stop: threading.Event) -> None:
        """Move records until told to stop, and then what is there already, for some seconds.

        What fails is logged and tried again, ever slower.
        """
        wait = _IDLE_SECONDS
        while not stop.is_set():
            moved = self._attempt()
            wait = _IDLE_SECONDS if moved is not None else min(wait * 2, _LONGEST_WAIT)
            if not moved:
                stop.wait(wait)
        end = time.monotonic() + _LAST_SECONDS
        while time.monotonic() < end and self._attempt():
            continue

    def _attempt(self) -> int | None:
        """A step; None if it failed, after which positions are read again."""
        try:
            return self.step()
        except Exception:
            self._positions.clear()
            _log.exception("cannot fill mailboxes; trying again")
            return None

    def _move(self, partition: int) -> int:
        start = self._position(partition)
        batch = self._matches.read(partition, start, max_records=self._max_records)
        if not batch.num_rows:
            return 0
        stop = batch.column("offset")[-1].as_py() + 1
        records = self._decoded(batch)
        rows = self._repository.mailbox.deliver(self._consumer, partition, start, stop, records)
        self._positions[partition] = stop
        _count(rows, records)
        return int(batch.num_rows)

    def _position(self, partition: int) -> int:
        if partition not in self._positions:
            stored = self._repository.mailbox.position(self._consumer, partition)
            self._positions[partition] = stored
        return self._positions[partition]

    def _decoded(self, batch: pa.RecordBatch) -> list[MatchRecord]:
        """The records of a batch; those that cannot be read go to the dead letters."""
        records, letters = [], []
        for row, value in enumerate(batch.column("value").to_pylist()):
            try:
                records.append(MatchRecord.decode(value))
            except (orjson.JSONDecodeError, TypeError) as error:
                letters.append(_dead(batch, row, value, error))
        if letters:
            self._repository.dead_letters.add(letters)
        return records


def _dead(batch: pa.RecordBatch, row: int, value: bytes, error: Exception) -> DeadLetter:
    """The letter has no place of its own: that would be one in the log of publications."""
    partition, offset = (batch.column(name)[row].as_py() for name in ("partition", "offset"))
    reason = f"record {offset} of partition {partition} in the log of matches: {error}"
    _log.error("unreadable match: %s", reason)
    return DeadLetter(where="deliver", publisher=None, id=None, reason=reason, value=value)


def _count(rows: int, records: list[MatchRecord]) -> None:
    metrics().notifications.labels(channel="mailbox").inc(rows)
    delay, moment = metrics().delay.labels(channel="mailbox"), now()
    for record in records:
        delay.observe((moment - record.published) / MICROSECONDS)
