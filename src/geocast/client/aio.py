"""`geocast.AsyncClient`: the service from asyncio."""

# Arguments have the names that GeoJSON and CQL2 give to what they are.
# ruff: noqa: A002

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Mapping,
    Sequence,
)
from typing import Any, Self, TypeAlias

import httpx

from geocast.client import accounts, mailbox, publishing, subscribing
from geocast.client.aio_driver import AsyncDriver
from geocast.client.core import Core
from geocast.client.features import CHUNK_FEATURES, Chunk, Chunks, FeatureLike, GeometryLike
from geocast.client.feed import Feed
from geocast.client.follow import follow
from geocast.client.subscribing import Wish
from geocast.client.values import Account, Facts, Notification, Receipt

__all__ = ["AsyncClient", "AsyncSubscription"]

Features: TypeAlias = Iterable[FeatureLike] | AsyncIterable[FeatureLike] | Mapping[str, Any]


class AsyncClient:
    """A client of the service at `url`; tasks of one event loop share it. Use it in `async with`.

    `token` is by default that of the environment variable GEOCAST_TOKEN. A request that meets a
    broken connection or a busy service is tried again up to `retries` times; `timeout` bounds
    each attempt. A stream of notifications comes back by itself, for `patience` seconds after
    each break, and by default for ever. What fails raises ServiceError.

    `url` may be several, with commas or as a list: gateways of one service, of which the next is
    asked where one fails; a stream goes on there where it was. `ca` is a PEM file of the
    certificates to trust, by default that of GEOCAST_CA, else the usual ones.
    """

    def __init__(
        self,
        url: str | Sequence[str] = "http://127.0.0.1:8400",
        token: str | None = None,
        *,
        retries: int = 5,
        timeout: float = 30.0,
        patience: float | None = None,
        ca: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._core = Core(url, token, retries, ca)
        self._driver = AsyncDriver(self._core, timeout, transport)
        self._patience = patience

    async def publish(
        self,
        feature: FeatureLike,
        properties: Mapping[str, Any] | None = None,
        *,
        id: str | int | None = None,
    ) -> Receipt:
        """Publish one feature: a GeoJSON Feature, or a geometry and its properties.

        A feature without an id gets one before it is sent, so that no retry publishes it twice.
        """
        return await self._driver.run(publishing.publish(self._core, feature, properties, id))

    async def publish_many(
        self, features: Features, *, chunk: int = CHUNK_FEATURES
    ) -> list[Receipt]:
        """Publish features, `chunk` at a time, and return a receipt for each, in their order.

        A feature that is rejected does not keep the others back: its receipt tells the reason.
        """
        return [receipt async for receipt in self.publish_each(features, chunk=chunk)]

    async def publish_each(
        self, features: Features, *, chunk: int = CHUNK_FEATURES
    ) -> AsyncGenerator[Receipt, None]:
        """Like `publish_many` for any number of features: publishes as you iterate."""
        async for piece in _pieces(features, Chunks(chunk)):
            for receipt in await self._driver.run(publishing.publish_chunk(self._core, piece)):
                yield receipt

    async def unpublish(self, id: str | int) -> dict[str, Any]:
        """Withdraw a publication; return how many notifications that removed or sent."""
        return await self._driver.run(publishing.unpublish(self._core, id))

    async def subscribe(
        self,
        geometry: GeometryLike | None = None,
        predicate: str | None = None,
        filter: str | Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        webhook: str | Mapping[str, Any] | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> AsyncSubscription:
        """Subscribe to what relates to an area, satisfies a CQL2 filter, or both."""
        wish = Wish(geometry, predicate, filter, webhook, properties)
        return self._own(await self._driver.run(subscribing.subscribe(self._core, wish, id)))

    async def change(
        self,
        id: str,
        geometry: GeometryLike | None = None,
        predicate: str | None = None,
        filter: str | Mapping[str, Any] | None = None,
        *,
        webhook: str | Mapping[str, Any] | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> AsyncSubscription:
        """Give a subscription a new version; the old one holds until the new one is active."""
        wish = Wish(geometry, predicate, filter, webhook, properties)
        return self._own(await self._driver.run(subscribing.change(self._core, id, wish)))

    async def subscription(self, id: str) -> AsyncSubscription:
        """Return a subscription of yours."""
        return self._own(await self._driver.run(subscribing.get(self._core, id)))

    async def subscriptions(
        self, bbox: tuple[float, float, float, float] | None = None, *, page: int = 500
    ) -> AsyncGenerator[AsyncSubscription, None]:
        """Yield your subscriptions, or those whose area meets a box (west, south, east, north)."""
        steps = subscribing.page_through(self._core, bbox, page)
        async for facts in self._driver.iterate(steps):
            yield self._own(facts)

    async def unsubscribe(self, id: str) -> None:
        """Cancel a subscription."""
        await self._driver.run(subscribing.unsubscribe(self._core, id))

    def listen(
        self,
        *,
        subscription: str | None = None,
        after: int | None = None,
        timeout: float | None = None,
        acknowledge: bool = True,
    ) -> AsyncGenerator[Notification, None]:
        """Yield notifications as they come: all of them, or those of one subscription.

        Begins with what is not acknowledged, or behind the cursor `after`. A notification is
        acknowledged once the loop asks for the one after it, unless `acknowledge` is False.
        Ends when none came for `timeout` seconds.
        """
        return self._listen(Feed(subscription, after), timeout, acknowledge)

    async def notifications(
        self,
        after: int | None = None,
        limit: int | None = None,
        subscription: str | None = None,
    ) -> list[Notification]:
        """Return what waits in your mailbox behind a cursor; nothing is acknowledged by that."""
        return await self._driver.run(mailbox.read(self._core, after, limit, subscription))

    async def acknowledge(
        self,
        *notifications: Notification | int,
        through: int | None = None,
        subscription: str | None = None,
    ) -> int:
        """Remove notifications (or cursors) from your mailbox, or all up to `through`."""
        steps = mailbox.acknowledge(self._core, notifications, through, subscription)
        return await self._driver.run(steps)

    async def me(self) -> Account:
        """Return the account that the token belongs to."""
        return await self._driver.run(accounts.me(self._core))

    def accounts(self) -> AsyncIterator[Account]:
        """Yield all accounts (for administrators, as all that follows)."""
        return self._driver.iterate(accounts.page_through(self._core))

    async def add_account(self, name: str, rights: Iterable[str]) -> Account:
        """Make an account with some of the rights publish, subscribe, admin."""
        return await self._driver.run(accounts.add(self._core, name, rights))

    async def remove_account(self, name: str) -> None:
        """Remove an account, its tokens and its subscriptions."""
        await self._driver.run(accounts.remove(self._core, name))

    async def issue_token(self, name: str, label: str = "") -> str:
        """Return a new token for an account; it is told only this once."""
        return await self._driver.run(accounts.issue_token(self._core, name, label))

    async def issue_link(self, seconds: int = 600) -> str:
        """Return an address at which the map opens, signed in as you, once and within a time."""
        return await self._driver.run(accounts.issue_link(self._core, seconds))

    async def status(self) -> dict[str, Any]:
        """Return how the service fares."""
        return await self._driver.run(accounts.status(self._core))

    async def aclose(self) -> None:
        """Acknowledge what was consumed, and close all connections."""
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _own(self, facts: Facts) -> AsyncSubscription:
        return AsyncSubscription(self, facts)

    def _listen(
        self, feed: Feed, timeout: float | None, acknowledge: bool
    ) -> AsyncGenerator[Notification, None]:
        steps = follow(
            self._core, feed, timeout=timeout, acknowledge=acknowledge, patience=self._patience
        )
        return self._driver.iterate(steps, feed)


class AsyncSubscription:
    """A standing query of yours: `async for` over it gives its notifications.

    `facts` is what the service told last. The loop resumes after a disconnect, without loss or
    repeat; a second loop goes on where the first was left. One loop at a time.
    """

    def __init__(self, client: AsyncClient, facts: Facts) -> None:
        self.facts = facts
        self._client = client
        self._feed = Feed(facts.id)

    @property
    def id(self) -> str:
        """Its id."""
        return self.facts.id

    @property
    def status(self) -> str:
        """What it was when the service told it last: pending, active, paused, cancelled."""
        return self.facts.status

    def __aiter__(self) -> AsyncIterator[Notification]:
        return self.listen()

    def listen(
        self, *, timeout: float | None = None, acknowledge: bool = True
    ) -> AsyncGenerator[Notification, None]:
        """Yield its notifications as they come; see `AsyncClient.listen`."""
        return self._client._listen(self._feed, timeout, acknowledge)

    async def acknowledge(self, *notifications: Notification | int) -> int:
        """Acknowledge these, or without any all that were handed out; return how many."""
        if notifications:
            return await self._client.acknowledge(*notifications)
        if self._feed.handed is None:
            return 0
        return await self._client.acknowledge(through=self._feed.handed, subscription=self.id)

    async def wait_active(self, timeout: float | None = 60.0) -> Self:
        """Return once it is active; raises ServiceError where that takes too long."""
        steps = subscribing.wait_active(self._client._core, self.id, timeout)
        self.facts = await self._client._driver.run(steps)
        return self

    async def unsubscribe(self) -> None:
        """Cancel it."""
        await self._client.unsubscribe(self.id)

    def __repr__(self) -> str:
        return f"<AsyncSubscription {self.id} {self.status}>"


async def _pieces(features: Features, chunks: Chunks) -> AsyncIterator[Chunk]:
    async for feature in _each(features):
        if (full := chunks.add(feature)) is not None:
            yield full
    if (rest := chunks.rest()) is not None:
        yield rest


async def _each(features: Features) -> AsyncIterator[FeatureLike]:
    if isinstance(features, AsyncIterable):
        async for feature in features:
            yield feature
    else:
        for feature in publishing.several(features):
            yield feature
