"""The process that delivers: mailboxes, webhooks, housekeeping, until told to stop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Final

from geocast.deliver.housekeeping import Housekeeper
from geocast.deliver.mail import Mailman
from geocast.deliver.webhooks import Webhooks
from geocast.log import SqliteLog
from geocast.operate import allow_many_files
from geocast.repository import Repository

if TYPE_CHECKING:
    from geocast.operate import Place, Settings

__all__ = ["run_deliver"]

_log: Final = logging.getLogger(__name__)


def run_deliver(place: Place, settings: Settings, stop: threading.Event) -> None:
    """Deliver what the service at `place` matches, until `stop` is set.

    Returns when all has ended in order; raises what made a part of it end otherwise.
    """
    allow_many_files()
    matches = SqliteLog.open(place.matches, settings.partitions, unique_keys=False)
    with closing(matches), closing(Repository.open(place.repository)) as repository:
        mailman = Mailman(matches, repository)
        webhooks = Webhooks(repository, settings)
        housekeeper = Housekeeper(matches, repository, settings)
        _log.info("delivery runs")
        _run_together(
            [
                lambda: mailman.run(stop),
                lambda: asyncio.run(webhooks.run(stop)),
                lambda: housekeeper.run(stop),
            ],
            stop,
        )
        _log.info("delivery has stopped")


def _run_together(parts: list[Callable[[], None]], stop: threading.Event) -> None:
    """Run each in a thread; the first that ends stops the others."""

    def run(part: Callable[[], None]) -> None:
        try:
            part()
        finally:
            stop.set()

    with ThreadPoolExecutor(len(parts), thread_name_prefix="deliver") as pool:
        for future in [pool.submit(run, part) for part in parts]:
            future.result()
