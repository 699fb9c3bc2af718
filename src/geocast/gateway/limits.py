"""How much a client may send: bytes in a body, time to send it, requests and features a second."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geocast.gateway.problems import Problem
from geocast.model import Account
from geocast.operate import Settings

__all__ = ["BodyLimit", "Bucket", "Rates", "Room"]

_SMALL_BODY: Final = 1 << 20
_LARGE_BODIES: Final = ("/v1/publications", "/v1/subscriptions")
_HELD_BODIES: Final = 512 << 20
_SMALL_SHARE: Final = 8
_IDLE_SECONDS: Final = 30.0
_BODY_SECONDS: Final = 300.0
_COUNT_SECONDS: Final = 5.0
_MOST_BUCKETS: Final = 100_000


class BodyLimit:
    """ASGI middleware that refuses bodies that are too long or come too slowly.

    A body that says its length is refused before it is read, any other as soon as it exceeds the
    limit. All bodies that are being read or worked on together may take 512 MiB. What may only be
    small has a share of its own, since some of it is read before anybody knows whose it is.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_body: int,
        idle_seconds: float = _IDLE_SECONDS,
        held_bodies: int = _HELD_BODIES,
    ) -> None:
        self._app = app
        self._max_body = max_body
        self._idle_seconds = idle_seconds
        self._held_bodies = held_bodies
        self._held = {False: 0, True: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a `receive` that keeps count."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(self, scope, receive)
        try:
            await self._app(scope, body.receive, send)
        finally:
            self._held[body.may_be_large] -= body.size

    def most(self, may_be_large: bool) -> int:
        """Return how long a body may be."""
        return self._max_body if may_be_large else min(self._max_body, _SMALL_BODY)

    async def wait(self, receive: Receive, remaining: float) -> Message:
        """Return the next part of a body; a Problem if it does not come."""
        try:
            async with asyncio.timeout(min(self._idle_seconds, remaining)):
                return await receive()
        except TimeoutError:
            raise Problem(408, "the body did not come in time") from None

    def hold(self, size: int, may_be_large: bool) -> None:
        """Note that so many bytes more are held; a Problem if that is too much."""
        self._held[may_be_large] += size
        share = self._held_bodies if may_be_large else self._held_bodies // _SMALL_SHARE
        if self._held[may_be_large] > share:
            detail = "too many large requests are being worked on"
            raise Problem(503, detail, headers={"Retry-After": "1"})


class _Body:
    """One body on its way in."""

    def __init__(self, limit: BodyLimit, scope: Scope, receive: Receive) -> None:
        self.size = 0
        self._limit = limit
        self.may_be_large = scope["path"].startswith(_LARGE_BODIES)
        self._most = limit.most(self.may_be_large)
        self._declared = _declared(scope)
        self._receive = receive
        self._deadline = time.monotonic() + _BODY_SECONDS
        self._complete = False

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        if self._declared > self._most:
            raise self._too_long()
        message = await self._limit.wait(self._receive, self._deadline - time.monotonic())
        size = len(message.get("body", b""))
        self.size += size
        self._limit.hold(size, self.may_be_large)
        if self.size > self._most:
            raise self._too_long()
        self._complete = not message.get("more_body", False)
        return message

    def _too_long(self) -> Problem:
        return Problem(413, f"the body is longer than {self._most} bytes")


def _declared(scope: Scope) -> int:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    text = next((value for name, value in headers if name == b"content-length"), b"0")
    return int(text) if text.isdigit() else 0


class Bucket:
    """A token bucket that may go into debt: what is large passes, and what follows waits."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = max(rate, 1.0)
        self._level = self._burst
        self._clock = clock
        self._at = clock()

    def take(self, amount: float) -> float:
        """Take so many tokens and return 0, or take none and return the seconds to wait."""
        at = self._clock()
        self._level = min(self._burst, self._level + (at - self._at) * self._rate)
        self._at = at
        needed = min(amount, 1.0)
        if self._level < needed:
            return (needed - self._level) / self._rate
        self._level -= amount
        return 0.0


class Rates:
    """The rates of every account, by what it does, and of every host that has no token."""

    def __init__(self, settings: Settings) -> None:
        self._rates = {"requests": settings.request_rate, "features": settings.publish_rate}
        self._buckets: dict[tuple[str, int | str], Bucket] = {}

    def request(self, account: Account) -> None:
        """Count a request; a Problem if there were too many."""
        self._take("requests", account.number, 1)

    def features(self, account: Account, count: int) -> None:
        """Count published features; a Problem if there were too many. 0 asks and takes none."""
        self._take("features", account.number, count)

    def stranger(self, host: str) -> None:
        """Count a request of somebody without a token; a Problem if there were too many."""
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.clear()
        self._take("requests", host, 1)

    def _take(self, what: str, who: int | str, amount: int) -> None:
        key = (what, who)
        rate = self._rates[what]
        bucket = self._buckets.get(key) or self._buckets.setdefault(key, Bucket(rate))
        wait = bucket.take(amount)
        if wait > 0:
            headers: dict[str, Any] = {"Retry-After": str(math.ceil(wait))}
            detail = f"more than {rate:g} {what} a second; again in {wait:.3f} s"
            raise Problem(429, detail, headers=headers)


class Room:
    """How many subscriptions the service may hold; counted anew every few seconds."""

    def __init__(self, most: int, count: Callable[[], int]) -> None:
        self._most = most
        self._count = count
        self._held = 0
        self._at = -math.inf

    def check(self, more: int) -> None:
        """A Problem (403) unless there is room for so many more."""
        at = time.monotonic()
        if at - self._at > _COUNT_SECONDS:
            self._held, self._at = self._count(), at
        if self._held + more > self._most:
            raise Problem(403, f"the service holds {self._held} of {self._most} subscriptions")
        self._held += more
