"""`geocast.Client`: the service from ordinary Python."""

# Arguments have the names that GeoJSON and CQL2 give to what they are.
# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias

import httpx

from geocast.client import accounts, mailbox, publishing, subscribing
from geocast.client.core import Core
from geocast.client.features import CHUNK_FEATURES, Chunk, Chunks, FeatureLike, GeometryLike
from geocast.client.feed import Feed
from geocast.client.follow import follow
from geocast.client.subscribing import Wish
from geocast.client.sync_driver import Driver
from geocast.client.values import Account, Facts, Notification, Receipt

__all__ = ["Client", "Subscription"]

Features: TypeAlias = Iterable[FeatureLike] | Mapping[str, Any]


class Client:
    """A client of the service at `url`; threads may share it. Use it in a `with` block.

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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._core = Core(url, token, retries, ca)
        self._driver = Driver(self._core, timeout, transport)
        self._patience = patience

    def publish(
        self,
        feature: FeatureLike,
        properties: Mapping[str, Any] | None = None,
        *,
        id: str | int | None = None,
    ) -> Receipt:
        """Publish one feature: a GeoJSON Feature, or a geometry and its properties.

        A feature without an id gets one before it is sent, so that no retry publishes it twice.
        """
        return self._driver.run(publishing.publish(self._core, feature, properties, id))

    def publish_many(self, features: Features, *, chunk: int = CHUNK_FEATURES) -> list[Receipt]:
        """Publish features, `chunk` at a time, and return a receipt for each, in their order.

        A feature that is rejected does not keep the others back: its receipt tells the reason.
        """
        return list(self.publish_each(features, chunk=chunk))

    def publish_each(
        self, features: Features, *, chunk: int = CHUNK_FEATURES
    ) -> Generator[Receipt, None, None]:
        """Like `publish_many` for any number of features: publishes as you iterate."""
        for piece in _pieces(features, Chunks(chunk)):
            yield from self._driver.run(publishing.publish_chunk(self._core, piece))

    def unpublish(self, id: str | int) -> dict[str, Any]:
        """Withdraw a publication; return how many notifications that removed or sent."""
        return self._driver.run(publishing.unpublish(self._core, id))

    def subscribe(
        self,
        geometry: GeometryLike | None = None,
        predicate: str | None = None,
        filter: str | Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        webhook: str | Mapping[str, Any] | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> Subscription:
        """Subscribe to what relates to an area, satisfies a CQL2 filter, or both."""
        wish = Wish(geometry, predicate, filter, webhook, properties)
        return self._own(self._driver.run(subscribing.subscribe(self._core, wish, id)))

    def change(
        self,
        id: str,
        geometry: GeometryLike | None = None,
        predicate: str | None = None,
        filter: str | Mapping[str, Any] | None = None,
        *,
        webhook: str | Mapping[str, Any] | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> Subscription:
        """Give a subscription a new version; the old one holds until the new one is active."""
        wish = Wish(geometry, predicate, filter, webhook, properties)
        return self._own(self._driver.run(subscribing.change(self._core, id, wish)))

    def subscription(self, id: str) -> Subscription:
        """Return a subscription of yours."""
        return self._own(self._driver.run(subscribing.get(self._core, id)))

    def subscriptions(
        self, bbox: tuple[float, float, float, float] | None = None, *, page: int = 500
    ) -> Iterator[Subscription]:
        """Yield your subscriptions, or those whose area meets a box (west, south, east, north)."""
        steps = subscribing.page_through(self._core, bbox, page)
        return (self._own(facts) for facts in self._driver.iterate(steps))

    def unsubscribe(self, id: str) -> None:
        """Cancel a subscription."""
        self._driver.run(subscribing.unsubscribe(self._core, id))

    def listen(
        self,
        *,
        subscription: str | None = None,
        after: int | None = None,
        timeout: float | None = None,
        acknowledge: bool = True,
    ) -> Generator[Notification, None, None]:
        """Yield notifications as they come: all of them, or those of one subscription.

        Begins with what is not acknowledged, or behind the cursor `after`. A notification is
        acknowledged once the loop asks for the one after it, unless `acknowledge` is False.
        Ends when none came for `timeout` seconds.
        """
        return self._listen(Feed(subscription, after), timeout, acknowledge)

    def notifications(
        self,
        after: int | None = None,
        limit: int | None = None,
        subscription: str | None = None,
    ) -> list[Notification]:
        """Return what waits in your mailbox behind a cursor; nothing is acknowledged by that."""
        return self._driver.run(mailbox.read(self._core, after, limit, subscription))

    def acknowledge(
        self,
        *notifications: Notification | int,
        through: int | None = None,
        subscription: str | None = None,
    ) -> int:
        """Remove notifications (or cursors) from your mailbox, or all up to `through`."""
        steps = mailbox.acknowledge(self._core, notifications, through, subscription)
        return self._driver.run(steps)

    def me(self) -> Account:
        """Return the account that the token belongs to."""
        return self._driver.run(accounts.me(self._core))

    def accounts(self) -> Iterator[Account]:
        """Yield all accounts (for administrators, as all that follows)."""
        return self._driver.iterate(accounts.page_through(self._core))

    def add_account(self, name: str, rights: Iterable[str]) -> Account:
        """Make an account with some of the rights publish, subscribe, admin."""
        return self._driver.run(accounts.add(self._core, name, rights))

    def remove_account(self, name: str) -> None:
        """Remove an account, its tokens and its subscriptions."""
        self._driver.run(accounts.remove(self._core, name))

    def issue_token(self, name: str, label: str = "") -> str:
        """Return a new token for an account; it is told only this once."""
        return self._driver.run(accounts.issue_token(self._core, name, label))

    def issue_link(self, seconds: int = 600) -> str:
        """Return an address at which the map opens, signed in as you, once and within a time."""
        return self._driver.run(accounts.issue_link(self._core, seconds))

    def status(self) -> dict[str, Any]:
        """Return how the service fares."""
        return self._driver.run(accounts.status(self._core))

    def close(self) -> None:
        """Acknowledge what was consumed, and close all connections."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _own(self, facts: Facts) -> Subscription:
        return Subscription(self, facts)

    def _listen(
        self, feed: Feed, timeout: float | None, acknowledge: bool
    ) -> Generator[Notification, None, None]:
        steps = follow(
            self._core, feed, timeout=timeout, acknowledge=acknowledge, patience=self._patience
        )
        return self._driver.iterate(steps, feed)


class Subscription:
    """A standing query of yours: iterate over it for its notifications.

    `facts` is what the service told last. The loop resumes after a disconnect, without loss or
    repeat; a second loop goes on where the first was left. One loop at a time.
    """

    def __init__(self, client: Client, facts: Facts) -> None:
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

    def __iter__(self) -> Iterator[Notification]:
        return self.listen()

    def listen(
        self, *, timeout: float | None = None, acknowledge: bool = True
    ) -> Generator[Notification, None, None]:
        """Yield its notifications as they come; see `Client.listen`."""
        return self._client._listen(self._feed, timeout, acknowledge)

    def acknowledge(self, *notifications: Notification | int) -> int:
        """Acknowledge these, or without any all that were handed out; return how many."""
        if notifications:
            return self._client.acknowledge(*notifications)
        if self._feed.handed is None:
            return 0
        return self._client.acknowledge(through=self._feed.handed, subscription=self.id)

    def wait_active(self, timeout: float | None = 60.0) -> Self:
        """Return once it is active; raises ServiceError where that takes too long."""
        steps = subscribing.wait_active(self._client._core, self.id, timeout)
        self.facts = self._client._driver.run(steps)
        return self

    def unsubscribe(self) -> None:
        """Cancel it."""
        self._client.unsubscribe(self.id)

    def __repr__(self) -> str:
        return f"<Subscription {self.id} {self.status}>"


def _pieces(features: Features, chunks: Chunks) -> Iterator[Chunk]:
    for feature in publishing.several(features):
        if (full := chunks.add(feature)) is not None:
            yield full
    if (rest := chunks.rest()) is not None:
        yield rest
