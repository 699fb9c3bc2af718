"""The process that delivers: mailboxes, webhooks, housekeeping, until told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Final

from geocast.deliver.housekeeping import Housekeeper
from geocast.deliver.mail import Mailman
from geocast.deliver.topic_names import SHARES as TOPIC_SHARES
from geocast.deliver.webhooks import SHARES as HOOK_SHARES
from geocast.deliver.webhooks import Webhooks
from geocast.log import kafka_options
from geocast.log import matches as matches_of
from geocast.operate import allow_many_files
from geocast.repository import Membership, Repository, joined

if TYPE_CHECKING:
    from geocast.deliver.shares import Shares
    from geocast.deliver.topics import TopicWriter
    from geocast.log import Log
    from geocast.operate import Place, Settings

__all__ = ["run_deliver"]

_MAIL: Final = "mail"
_WEBHOOKS: Final = "webhooks"
_TOPICS: Final = "topics"
_HOUSE: Final = "housekeeping"
_COLLECT: Final = (50_000, 20, 20)
_log: Final = logging.getLogger(__name__)


def run_deliver(place: Place, settings: Settings, stop: threading.Event) -> None:
    """Deliver what the service at `place` matches, until `stop` is set.

    Returns when all has ended in order; raises what made a part of it end otherwise.
    """
    allow_many_files()
    matches = matches_of(place, settings).open()
    opened = Repository.open(place.repository, connections=settings.repository_connections)
    with closing(matches), closing(opened) as repository:
        works = {_MAIL: matches.partitions, _WEBHOOKS: HOOK_SHARES, _HOUSE: 1}
        if settings.log:
            works[_TOPICS] = TOPIC_SHARES
        with joined(place.repository, "deliver", works) as membership:
            # What is loaded by now stays: nobody need search it for garbage time and again.
            gc.collect()
            gc.freeze()
            # What comes and goes here by the thousand has no cycles.
            gc.set_threshold(*_COLLECT)
            _log.info("delivery runs")
            _run_together(_parts(matches, repository, settings, membership, stop), stop)
        _log.info("delivery has stopped")


def _parts(
    matches: Log,
    repository: Repository,
    settings: Settings,
    membership: Membership,
    stop: threading.Event,
) -> list[Callable[[], None]]:
    """Return what runs side by side, each for its shares of the work."""
    shares = membership.shares
    mailman = Mailman(matches, repository, shares=shares(_MAIL))
    webhooks = Webhooks(repository, settings, shares=shares(_WEBHOOKS))
    housekeeper = Housekeeper(matches, repository, settings, shares=shares(_HOUSE))
    parts: list[Callable[[], None]] = [
        lambda: mailman.run(stop),
        lambda: asyncio.run(webhooks.run(stop)),
        lambda: housekeeper.run(stop),
    ]
    if settings.log:
        topics = _topic_writer(repository, settings, shares(_TOPICS))
        parts.append(lambda: topics.run(stop))
    return parts


def _topic_writer(repository: Repository, settings: Settings, shares: Shares) -> TopicWriter:
    """Return who writes to topics of subscribers; only those who have Kafka load its library."""
    from geocast.deliver.topics import TopicWriter
    from geocast.log.kafka.subscribers import SubscriberTopics

    options, deployment = kafka_options(settings), repository.deployment
    return TopicWriter(
        repository, lambda share: SubscriberTopics(options, deployment, f"deliver.{share}"), shares
    )


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
