"""Notifications as they come, for streams and sessions, counted, while they may go on."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Final

from geocast.gateway.auth import check_right
from geocast.gateway.parts import Parts
from geocast.model import MICROSECONDS, Account, Notification, Right, now
from geocast.operate import metrics

__all__ = ["HEARTBEAT_SECONDS", "Permit", "counted_session", "watch"]

HEARTBEAT_SECONDS: Final = 15.0
"""How often somebody who gets nothing is told that the service is there."""


@contextmanager
def counted_session(channel: str) -> Iterator[None]:
    """Count an open stream or session while it is open."""
    gauge = metrics().sessions.labels(channel=channel)
    gauge.inc()
    try:
        yield
    finally:
        gauge.dec()


class Permit:
    """Whether a stream may go on: asked now and then while it is open."""

    def __init__(self, parts: Parts, token: str | None) -> None:
        self._parts = parts
        self._token = token
        self._checked = time.monotonic()

    async def check(self) -> None:
        """A Problem when the token is no longer good, or its account no longer a subscriber."""
        if time.monotonic() - self._checked >= HEARTBEAT_SECONDS:
            account = await self._parts.doorkeeper.account(self._token)
            check_right(account, Right.SUBSCRIBE)
            self._checked = time.monotonic()


async def watch(
    parts: Parts,
    account: Account,
    token: str | None,
    *,
    channel: str,
    after: int,
    subscription: str | None = None,
) -> AsyncGenerator[list[Notification], None]:
    """Yield batches of notifications; empty ones where there is nothing to tell for a while.

    Ends when the gateway closes. Raises a Problem when the token is no longer good, or its
    account no longer a subscriber.
    """
    heartbeat = HEARTBEAT_SECONDS
    found = parts.feed.notifications(account.number, after, subscription, heartbeat=heartbeat)
    permit = Permit(parts, token)
    async with aclosing(found) as batches:
        async for batch in batches:
            await permit.check()
            _count(channel, batch)
            yield batch


def _count(channel: str, batch: list[Notification]) -> None:
    metrics().notifications.labels(channel=channel).inc(len(batch))
    delay = metrics().delay.labels(channel=channel)
    at = now()
    for notification in batch:
        delay.observe((at - notification.published) / MICROSECONDS)
