"""From the log of matches into mailboxes: each match once, whatever is killed and restarted."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from geocast.deliver.shares import AllShares
from geocast.errors import StateError
from geocast.model import MICROSECONDS, MatchRecord, now
from geocast.operate import metrics
from geocast.repository import DeadLetter

if TYPE_CHECKING:
    import pyarrow as pa

    from geocast.deliver.shares import Shares
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
    lost or repeated wherever it stops. Several may run for a consumer's name, and each moves the
    partitions that are its `shares`, by default all: where two move the same, the transaction of
    one fails, and it goes on behind what the other has moved. A transaction takes at most
    `max_records` records, and no more than have `max_matches` matches together, but at least one.
    """

    def __init__(
        self,
        log: Log,
        repository: Repository,
        consumer: str = CONSUMER,
        *,
        shares: Shares | None = None,
        max_records: int = 2_000,
        max_matches: int = 50_000,
    ) -> None:
        self._matches = log
        self._shares = shares or AllShares(log.partitions)
        self._repository = repository
        self._consumer = consumer
        self._max_records = max_records
        self._max_matches = max_matches
        self._positions: dict[int, int] = {}
        self._waits: dict[int, float] = {}
        self._due: dict[int, float] = {}

    def step(self) -> int:
        """Move one batch of each partition and return how many records of the log that took.

        Raises StateError where the log is not the one that was read before: it ends before the
        stored position, or lacks records that follow it.
        """
        with self._shares.using() as partitions:
            return sum(self._move(partition) for partition in partitions)

    def run(self, stop: threading.Event) -> None:
        """Move records until told to stop, and then what is there already, for some seconds.

        What fails is logged and tried again, ever slower; the other partitions go on.
        """
        while not stop.is_set():
            if not self._attempt_all():
                stop.wait(_IDLE_SECONDS)
        end = time.monotonic() + _LAST_SECONDS
        while time.monotonic() < end and self._attempt_all():
            continue

    def _attempt_all(self) -> int:
        """A step of the partitions that are not waiting after a failure."""
        moment = time.monotonic()
        with self._shares.using() as mine:
            for partition in [one for one in self._positions if one not in mine]:
                del self._positions[partition]
            return sum(self._attempt(one) for one in mine if self._due.get(one, 0.0) <= moment)

    def _attempt(self, partition: int) -> int:
        """Move one batch; after a failure the position is read again, when it is due."""
        try:
            moved = self._move(partition)
        except Exception:
            self._positions.pop(partition, None)
            wait = min(2 * self._waits.get(partition, _IDLE_SECONDS), _LONGEST_WAIT)
            self._waits[partition], self._due[partition] = wait, time.monotonic() + wait
            _log.exception("cannot fill mailboxes from partition %d; trying again", partition)
            return 0
        self._waits.pop(partition, None)
        return moved

    def _move(self, partition: int) -> int:
        start = self._position(partition)
        batch = self._matches.read(partition, start, max_records=self._max_records)
        if not batch.num_rows:
            return 0
        offsets = batch.column("offset").to_pylist()
        if offsets[0] != start:
            self._check_kept(partition, start)
        records, letters = self._decoded(batch)
        taken = len(records) + len(letters)
        stop = offsets[taken - 1] + 1
        deliver = self._repository.mailbox.deliver
        try:
            rows = deliver(self._consumer, partition, start, stop, records, letters)
        except StateError:
            if not self._was_overtaken(partition, start):
                raise
            return 0
        self._positions[partition] = stop
        _count(rows, records)
        return taken

    def _was_overtaken(self, partition: int, start: int) -> bool:
        """Whether another process has moved the partition meanwhile; it goes on from there."""
        stored = self._repository.mailbox.position(self._consumer, partition)
        if stored == start:
            return False
        _log.info("partition %d was moved from %d by another process", partition, start)
        del self._positions[partition]
        return True

    def _check_kept(self, partition: int, start: int) -> None:
        """Raise StateError where it is no gap between records that the log begins later."""
        kept = self._matches.starts()[partition]
        if kept > start:
            raise StateError(
                f"partition {partition} of the log of matches begins at {kept}: "
                f"the records from {start} on are gone, but were not delivered"
            )

    def _position(self, partition: int) -> int:
        if partition not in self._positions:
            stored = self._repository.mailbox.position(self._consumer, partition)
            end = self._matches.ends()[partition]
            if stored > end:
                raise StateError(
                    f"partition {partition} of the log of matches ends at {end}, "
                    f"but consumer {self._consumer!r} has read up to {stored}"
                )
            self._positions[partition] = stored
        return self._positions[partition]

    def _decoded(self, batch: pa.RecordBatch) -> tuple[list[MatchRecord], list[DeadLetter]]:
        """The first records, as far as there is room for their matches; and what is unreadable."""
        records: list[MatchRecord] = []
        letters: list[DeadLetter] = []
        room = self._max_matches
        for value in batch.column("value").to_pylist():
            try:
                record = MatchRecord.decode(value)
            except ValueError as error:
                letters.append(_dead(batch, len(records) + len(letters), value, error))
                continue
            room -= len(record.versions)
            if room < 0 and records:
                break
            records.append(record)
        return records, letters


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
