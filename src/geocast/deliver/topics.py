"""Events to topics of subscribers in Kafka: each stands there once, with all of its matches.

A topic is fed from the repository, as a webhook is: what was withdrawn in time is never written,
and a withdrawal comes behind its match.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Final

from geocast.deliver.courier import is_due
from geocast.deliver.shares import AllShares
from geocast.deliver.topic_names import SHARES
from geocast.log.kafka.subscribers import Message, SubscriberTopics
from geocast.model import (
    MICROSECONDS,
    Bundle,
    Kind,
    bundle_event,
    event_id,
    now,
    publication_key,
)
from geocast.operate import metrics

if TYPE_CHECKING:
    from geocast.deliver.shares import Shares
    from geocast.repository import Endpoint, Repository

__all__ = ["TopicWriter"]

_IDLE_SECONDS: Final = 0.05
_LONGEST_WAIT: Final = 5.0
_ERROR_SECONDS: Final = 1.0
_MOST_AT_ONCE: Final = 200_000
_MOST_BYTES: Final = 128 << 20
"""How many matches may be on their way at once, of all shares together, and how large events."""

_MOST_MATCHES: Final = 3_000
"""How many matches one message may have: with the largest feature it is no larger than a record."""

_CONTENT: Final = ("content-type", b"application/cloudevents+json; charset=UTF-8")
_log: Final = logging.getLogger(__name__)


_Group = tuple["Endpoint", list[Bundle]]
"""A topic, and what waits for it."""


class TopicWriter:
    """Moves bundles from the repository into topics, many in one transaction.

    A transaction notes the newest cursor of each topic. What is written but still in the
    repository, because the process died in between, is only taken out of it. Topics are divided
    into shares, and each has transactions of its own (`open_share`): whoever begins to write for a
    share fences off all others, and then knows what they wrote. Of several processes each writes
    for its `shares`, by default all.
    """

    def __init__(
        self,
        repository: Repository,
        open_share: Callable[[int], SubscriberTopics],
        shares: Shares | None = None,
    ) -> None:
        self._repository = repository
        self._open_share = open_share
        self._shares = shares or AllShares(SHARES)
        self._opened: dict[int, SubscriberTopics] = {}
        self._last: dict[int, int] = {}
        self._waits: dict[int, float] = {}
        self._due: dict[int, float] = {}

    def run(self, stop: threading.Event) -> None:
        """Write until told to stop; what fails is logged and tried again, ever slower."""
        with ThreadPoolExecutor(SHARES, thread_name_prefix="topics") as pool:
            try:
                while not stop.is_set():
                    if not self._attempt_all(pool):
                        stop.wait(_IDLE_SECONDS)
                self._attempt_all(pool)
            finally:
                self._let_go(self._opened.keys())

    def _attempt_all(self, pool: ThreadPoolExecutor) -> int:
        """Move what waits, up to a bound, share by share at once; return how much that was."""
        try:
            with self._shares.using() as mine:
                self._let_go(self._opened.keys() - set(mine))
                moment = time.monotonic()
                due = {share for share in mine if self._due.get(share, 0.0) <= moment}
                waiting = self._waiting(due)
                parts = repeat(max(1, len(waiting)))
                return sum(pool.map(self._attempt, waiting.keys(), waiting.values(), parts))
        except Exception:
            _log.exception("cannot look for topics with mail; trying again")
            time.sleep(_ERROR_SECONDS)
            return 0

    def _attempt(self, share: int, endpoints: list[Endpoint], parts: int) -> int:
        try:
            # To begin to write fences others off: not where the share has passed to one of them.
            moved = self._move(share, endpoints, parts) if share in self._shares.held() else 0
        except Exception:
            if share not in self._shares.held():
                _log.info("share %d of the topics is another process's now", share)
                return 0
            wait = min(2 * self._waits.get(share, _IDLE_SECONDS), _LONGEST_WAIT)
            self._waits[share], self._due[share] = wait, time.monotonic() + wait
            _log.exception("cannot write to topics of subscribers; trying again")
            return 0
        self._waits.pop(share, None)
        return moved

    def _move(self, share: int, endpoints: list[Endpoint], parts: int) -> int:
        """Move what waits for one share, one of so many at work; return how many bundles."""
        if share not in self._opened:
            self._opened[share] = self._open_share(share)
        topics = self._opened[share]
        # First what is in the topics: nothing is marked as seen before a broker has told that.
        written = {one.number: topics.written(one.topic) for one in endpoints if one.topic}
        groups = [group for group in self._handed_over(share, endpoints, parts) if group[1]]
        fresh = [
            (endpoint, [row for row in rows if row.cursor > written[endpoint.number]])
            for endpoint, rows in groups
        ]
        # Messages are large: they are made one by one, when they are written.
        if filled := {one.topic: _messages(rows) for one, rows in fresh if rows and one.topic}:
            topics.write(filled)
            _count([one for _, rows in fresh for one in rows])
        for endpoint, rows in groups:
            self._repository.mailbox.take_out(endpoint.number, rows[0].cursor, rows[-1].cursor)
        return sum(len(rows) for _, rows in groups)

    def _handed_over(self, share: int, endpoints: list[Endpoint], parts: int) -> Iterator[_Group]:
        """Yield the topics with what waits for each, up to a bound in all.

        Each may take an equal part of what the ones before it have left, and the turn goes round:
        a topic with much mail, or large features, does not keep the others waiting.
        """
        room, space = _MOST_AT_ONCE // parts, _MOST_BYTES // parts
        turn = _behind(endpoints, self._last.get(share, -1))
        for left, endpoint in zip(range(len(turn), 0, -1), turn, strict=True):
            rows = self._repository.mailbox.hand_over(
                endpoint.number, limit=max(1, room // left), max_bytes=max(1, space // left)
            )
            yield endpoint, rows
            self._last[share] = endpoint.number
            room -= sum(len(row.matches) for row in rows)
            space -= sum(len(row.feature) for row in rows)
            if room <= 0 or space <= 0:
                return

    def _waiting(self, shares: set[int]) -> dict[int, list[Endpoint]]:
        """Return the topics that have mail, by share."""
        found: defaultdict[int, list[Endpoint]] = defaultdict(list)
        for endpoint in self._repository.endpoints.active_with_mail() if shares else []:
            share = endpoint.number % SHARES
            if share in shares and endpoint.topic and is_due(endpoint):
                found[share].append(endpoint)
        return found

    def _let_go(self, shares: Iterable[int]) -> None:
        for share in list(shares):
            self._opened.pop(share).close()


def _behind(endpoints: list[Endpoint], last: int) -> list[Endpoint]:
    """Return them by number, from the one behind `last` on, and round."""
    return sorted(endpoints, key=lambda one: (one.number <= last, one.number))


def _messages(bundles: list[Bundle]) -> Iterator[Message]:
    for one in bundles:
        if len(one.matches) <= _MOST_MATCHES:
            yield _message(one)
        else:
            for start in range(0, len(one.matches), _MOST_MATCHES):
                part = one.matches[start : start + _MOST_MATCHES]
                yield _message(replace(one, matches=part))


def _message(bundle: Bundle) -> Message:
    headers = [
        _CONTENT,
        ("geocast-id", event_id(bundle).encode()),
        ("geocast-published", b"%d" % bundle.published),
    ]
    key = publication_key(bundle.publisher, bundle.publication).encode()
    return Message(bundle.cursor, key, bundle_event(bundle), headers)


def _count(sent: list[Bundle]) -> None:
    metrics().notifications.labels(channel="topic").inc(sum(len(one.matches) for one in sent))
    delay, moment = metrics().delay.labels(channel="topic"), now()
    for one in sent:
        if one.kind == Kind.MATCH:
            delay.observe((moment - one.published) / MICROSECONDS)
