"""What delivery tidies up: what is beyond its age, or done with; and the gauges it shows."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from geocast.deliver.mail import CONSUMER
from geocast.deliver.shares import AllShares
from geocast.model import MICROSECONDS, MatchRecord, now
from geocast.operate import metrics

if TYPE_CHECKING:
    from geocast.deliver.shares import Shares
    from geocast.log import Log
    from geocast.operate import Settings
    from geocast.repository import Repository

__all__ = ["Housekeeper"]

_GAUGE_SECONDS: Final = 10.0
_TIDY_SECONDS: Final = 60.0
_FORGET_SECONDS: Final = 3_600.0
_log: Final = logging.getLogger(__name__)


class Housekeeper:
    """Removes what is too old, and never a match that its consumer has not read yet.

    The work is one share: of several processes, one does it.
    """

    def __init__(
        self,
        log: Log,
        repository: Repository,
        settings: Settings,
        consumer: str = CONSUMER,
        *,
        shares: Shares | None = None,
    ) -> None:
        self._shares = shares or AllShares(1)
        self._matches = log
        self._repository = repository
        self._settings = settings
        self._consumer = consumer

    def run(self, stop: threading.Event) -> None:
        """Measure, tidy and forget until told to stop; what fails is logged and done again."""
        due = dict.fromkeys((self.tidy, self.forget), time.monotonic())
        every = {self.tidy: _TIDY_SECONDS, self.forget: _FORGET_SECONDS}
        while not stop.wait(_GAUGE_SECONDS):
            with self._shares.using() as mine:
                if not mine:
                    continue
                try:
                    self.measure()
                    for work in [work for work, at in due.items() if time.monotonic() >= at]:
                        due[work] = time.monotonic() + every[work]
                        work()
                except Exception:
                    _log.exception("housekeeping failed; trying again later")

    def tidy(self) -> None:
        """Remove notifications and matches beyond their age, and matches beyond their size.

        Withdrawals are kept for the age of the mailboxes and that of the log together. Changes of
        subscriptions go when a snapshot has them.
        """
        settings, moment, read = self._settings, now(), self._read_up_to()
        before = moment - _microseconds(settings.mailbox_age)
        expired = self._repository.mailbox.expire(before, settled=self._settled(read))
        dropped = self._matches.expire(
            before=moment - _microseconds(settings.log_age),
            max_bytes=settings.log_size,
            keep=read,
        )
        self._repository.subscriptions.expire_changes()
        if expired or dropped:
            _log.info("expired %d notifications and %d matches", expired, dropped)

    def forget(self) -> None:
        """Remove what subscriptions asked for before they were changed or cancelled long ago.

        It is kept as long as withdrawals are, and as long as a mailbox refers to it.
        """
        subscriptions = self._repository.subscriptions
        # In the order in which matches move: from the batch to the log to the mailboxes.
        pinned = subscriptions.pinned_snapshot()
        settled = self._settled(self._read_up_to())
        forgotten = subscriptions.forget_removed(settled, pinned)
        if forgotten:
            _log.info("forgot %d versions of subscriptions", forgotten)

    def measure(self) -> None:
        """Bring the gauges up to date."""
        metrics().mailbox_depth.set(self._repository.mailbox.depth())
        parked = self._repository.endpoints.page(None, state="parked")
        metrics().parked_webhooks.set(len(parked))

    def _settled(self, read: list[int]) -> int:
        """When all that is still to be delivered had not been published yet.

        Publications are matched within the age of their log; and of the matches, those of what
        was published before the oldest unread one are delivered.
        """
        oldest = now() - _microseconds(self._settings.mailbox_age)
        for partition, position in enumerate(read):
            unread = self._matches.read(partition, position, max_records=1)
            oldest = min([oldest, *map(_published, unread.column("value").to_pylist())])
        return oldest - _microseconds(self._settings.log_age)

    def _read_up_to(self) -> list[int]:
        mailbox, partitions = self._repository.mailbox, range(self._matches.partitions)
        return [mailbox.position(self._consumer, partition) for partition in partitions]


def _published(value: bytes) -> int:
    """When the publication of a match was published; the beginning of time if nobody can tell."""
    try:
        return MatchRecord.decode(value).published
    except ValueError:
        return 0


def _microseconds(seconds: float) -> int:
    return int(seconds * MICROSECONDS)
