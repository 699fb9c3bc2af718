"""A small world for tests: accounts, subscriptions, matches for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import orjson

from geocast.model import Account, MatchRecord, Notification, Right, now
from geocast.repository import Endpoint, Repository, Subscription, Wanted

__all__ = ["SECRET", "World", "record", "wanted"]

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def wanted(endpoint: int | None = None) -> Wanted:
    return Wanted(None, None, "magnitude > 3", {}, endpoint)


def record(offset: int, versions: Sequence[int], *, partition: int = 0) -> MatchRecord:
    identifier = f"event-{partition}-{offset}"
    feature = {"type": "Feature", "id": identifier, "geometry": None, "properties": {"n": offset}}
    return MatchRecord(
        partition=partition,
        offset=offset,
        published=now(),
        publisher="sensors",
        id=identifier,
        batch=0,
        snapshot=1,
        versions=list(versions),
        feature=orjson.dumps(feature),
    )


class World:
    """A repository with one publisher and one subscriber; matches go straight to mailboxes."""

    def __init__(self, where: Path | str) -> None:
        """Make it in a directory, or in the empty repository at a URL."""
        file = f"sqlite:///{where}/repository.sqlite"
        self.url = where if isinstance(where, str) else file
        self.repository = Repository.open(self.url)
        self.publisher = self.repository.accounts.add("sensors", [Right.PUBLISH])
        self.reader = self.account("reader")
        self._names = count()
        self._offset = 0

    def account(self, name: str) -> Account:
        return self.repository.accounts.add(name, [Right.SUBSCRIBE])

    def subscribe(
        self, account: Account | None = None, endpoint: Endpoint | None = None
    ) -> Subscription:
        number = None if endpoint is None else endpoint.number
        owner = account or self.reader
        name = f"sub-{next(self._names)}"
        return self.repository.subscriptions.add(owner.number, name, wanted(number))

    def webhook(self, url: str, secret: str = SECRET) -> tuple[Endpoint, Subscription]:
        """An endpoint and a subscription that goes to it."""
        endpoint = self.repository.endpoints.put(self.reader.number, url, secret)
        return endpoint, self.subscribe(endpoint=endpoint)

    def endpoint(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint as it is now."""
        found = self.repository.endpoints.get(endpoint.account, endpoint.number)
        assert found is not None
        return found

    def publish(self, *subscriptions: Subscription, times: int = 1) -> list[str]:
        """Let publications match all these subscriptions; returns the publications' ids."""
        versions = [subscription.vnumber for subscription in subscriptions]
        start = self._offset
        self._offset += times
        records = [record(offset, versions) for offset in range(start, self._offset)]
        self.repository.mailbox.deliver("test", 0, start, self._offset, records)
        return [one.id for one in records]

    def mail(self, account: Account | None = None) -> list[Notification]:
        owner = account or self.reader
        return self.repository.mailbox.read(owner.number, limit=1_000_000)

    def close(self) -> None:
        self.repository.close()
