"""Follow the stream of notifications through broken connections, restarts and half-sent events.

Nothing is lost: after a break the stream goes on behind the last event that arrived whole.
Nothing comes twice: what came before is known by its id. Both hold for as long as the `Feed`
lives; what was not acknowledged then comes again to whoever asks next.
"""

from __future__ import annotations

import logging
import math
import time
from typing import Final

from geocast.client.core import Core, backoff, retry_after
from geocast.client.feed import Feed
from geocast.client.mailbox import acknowledgement
from geocast.client.wire import Answer, Failure, Give, Open, Read, Steps, Wait

__all__ = ["follow", "settle"]

_SILENCE: Final = 45.0
"""The service sends a sign of life every 15 s; after three missed ones the connection is dead."""

_GROUP: Final = 1_000
_GROUP_SECONDS: Final = 1.0
_SLACK: Final = 0.05
_log: Final = logging.getLogger(__name__)


def follow(
    core: Core,
    feed: Feed,
    *,
    timeout: float | None = None,
    acknowledge: bool = True,
    patience: float | None = None,
) -> Steps[None]:
    """Give notifications as they come, until none came for `timeout` seconds.

    The first connection must succeed as any request; one that breaks is made anew for
    `patience` seconds, without end if that is None. Raises ServiceError where that fails.
    """
    yield from _Follower(core, feed, timeout, acknowledge, patience).run()


def settle(core: Core, feed: Feed) -> Steps[None]:
    """Acknowledge what was consumed and is not acknowledged yet; a failure is only logged.

    What could not be acknowledged stays in the mailbox, and is sent again to whoever reads it.
    """
    while feed.consumed:
        outcome = yield from _acknowledge(feed)
        if isinstance(outcome, Failure) or outcome.status != 200:
            why = outcome.reason if isinstance(outcome, Failure) else f"status {outcome.status}"
            _log.warning("%d notifications are not acknowledged: %s", len(feed.consumed), why)
            return


def _acknowledge(feed: Feed) -> Steps[Answer | Failure]:
    """Acknowledge some of what was consumed; it stays noted unless that surely succeeded."""
    group, done = feed.take_consumed(), False
    try:
        outcome: Answer | Failure = yield acknowledgement(group)
        done = isinstance(outcome, Answer) and outcome.status == 200
    finally:
        if not done:
            feed.give_back(group)
    return outcome


class _Follower:
    """One loop over a feed."""

    def __init__(
        self,
        core: Core,
        feed: Feed,
        timeout: float | None,
        acknowledge: bool,
        patience: float | None,
    ) -> None:
        self._core, self._feed = core, feed
        self._timeout = math.inf if timeout is None else timeout
        self._acknowledges = acknowledge
        self._patience = math.inf if patience is None else patience
        self._end = time.monotonic() + self._timeout
        self._silence = 0.0
        self._attempt = 0
        self._acknowledged_at = -math.inf

    @property
    def _left(self) -> float:
        return self._end - time.monotonic()

    def run(self) -> Steps[None]:
        self._done_with_latest()
        yield from self._hand_out()
        if self._left <= 0:
            return
        answer, _ = yield from self._core.ask_often(self._open())
        self._check(answer)
        while self._left > 0:
            data: bytes | Failure = yield Read()
            if isinstance(data, Failure) or not data:
                yield from self._come_back()
                continue
            self._attempt = 0
            with self._core.reading("an event of the stream"):
                self._feed.receive(data)
            yield from self._hand_out()
            if self._left < self._silence - _SLACK:
                yield from self._reopen_shorter()

    def _open(self) -> Open:
        self._silence = max(min(_SILENCE, self._left), _SLACK)
        return Open(self._feed.request(), self._silence)

    def _check(self, answer: Answer) -> None:
        if answer.status != 200:
            raise self._core.refusal(self._feed.request(), answer)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            raise self._core.refusal(self._feed.request(), answer)

    def _hand_out(self) -> Steps[None]:
        """Give all that waits; each counts as consumed when the next is asked for."""
        while self._feed.waiting:
            yield Give(self._feed.hand_out())
            self._done_with_latest()
            self._end = time.monotonic() + self._timeout
            yield from self._acknowledge()
        yield from self._acknowledge()

    def _done_with_latest(self) -> None:
        if self._acknowledges:
            self._feed.asked_for_more()

    def _acknowledge(self) -> Steps[None]:
        """Acknowledge in groups: what is consumed waits for others, but not long."""
        count, now = len(self._feed.consumed), time.monotonic()
        long_ago = now - self._acknowledged_at >= _GROUP_SECONDS
        if not self._acknowledges or not count or not (long_ago or count >= _GROUP):
            return
        self._acknowledged_at = now
        outcome = yield from _acknowledge(self._feed)
        if isinstance(outcome, Answer) and outcome.status != 200 and not _is_passing(outcome):
            raise self._core.refusal(acknowledgement([]), outcome)

    def _reopen_shorter(self) -> Steps[None]:
        """Connect again so that a read ends when the time is up."""
        outcome: Answer | Failure = yield self._open()
        if isinstance(outcome, Failure) or _is_passing(outcome):
            yield from self._come_back()
        else:
            self._check(outcome)

    def _come_back(self) -> Steps[None]:
        """Connect again, more and more slowly, until it works or the time is up."""
        lost = time.monotonic()
        hint = self._feed.retry or 0.0
        while self._left > 0:
            yield Wait(min(max(backoff(self._attempt), hint), self._left))
            self._attempt += 1
            outcome: Answer | Failure = yield self._open()
            if isinstance(outcome, Answer) and not _is_passing(outcome):
                self._check(outcome)
                return
            if time.monotonic() - lost > self._patience:
                raise self._gave_up(outcome)
            hint = (retry_after(outcome) or 0.0) if isinstance(outcome, Answer) else 0.0

    def _gave_up(self, outcome: Answer | Failure) -> Exception:
        if isinstance(outcome, Failure):
            return self._core.unreachable(outcome)
        return self._core.refusal(self._feed.request(), outcome)


def _is_passing(answer: Answer) -> bool:
    """Whether the same request may well succeed later."""
    return answer.status in (408, 429) or answer.status >= 500
