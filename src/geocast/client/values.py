"""What users get from the client: notifications, receipts, subscriptions, accounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

__all__ = ["Account", "Facts", "Kind", "Notification", "Receipt"]

Kind = Literal["match", "withdrawal"]


@dataclass(frozen=True, slots=True)
class Notification:
    """An event concerns you, or (kind "withdrawal") an event that did is withdrawn.

    `cursor` is its place in your mailbox. `id` is unique; `match` is the same for a match and
    its withdrawal. `publication` is the id that `publisher` gave to the event, `feature` the
    event as a GeoJSON Feature, None in a withdrawal. `published` and `notified` (when it reached
    your mailbox) are times of the service's clock, `received` is of this machine's. `event` is
    the whole CloudEvent as it came.
    """

    cursor: int
    id: str
    match: str
    kind: Kind
    subscription: str
    version: int
    publication: str
    publisher: str
    feature: dict[str, Any] | None
    published: datetime
    notified: datetime
    received: datetime = field(compare=False)
    event: dict[str, Any] = field(compare=False, repr=False)

    @property
    def delay(self) -> float:
        """Seconds from publication until it was received; as true as the two clocks agree."""
        return (self.received - self.published).total_seconds()

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Notification | None:
        """Read a CloudEvent; None for a type of event that this client does not know.

        Raises KeyError, TypeError or ValueError for what is no notification.
        """
        kind = _kind(event["type"])
        if kind is None:
            return None
        data = event["data"]
        return cls(
            cursor=int(event["geocastcursor"]),
            id=str(event["id"]),
            match=str(data["match"]),
            kind=kind,
            subscription=str(data["subscription"]),
            version=int(data["version"]),
            publication=str(data["publication"]),
            publisher=str(event["source"]).removeprefix("/accounts/"),
            feature=data.get("feature"),
            published=datetime.fromisoformat(event["time"]),
            notified=datetime.fromisoformat(data["notified"]),
            received=datetime.now(UTC),
            event=dict(event),
        )


def _kind(name: str) -> Kind | None:
    if name.startswith("geocast.match."):
        return "match"
    return "withdrawal" if name.startswith("geocast.withdrawal.") else None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one feature that was published.

    `index` is its place among those that were published together. `partition`, `offset` and
    `published` are its place and time in the log; `duplicate` says that the id was published
    before, and was not published again. Where `reason` is not None, the feature was rejected.
    """

    index: int
    id: str | None
    partition: int | None = None
    offset: int | None = None
    published: datetime | None = None
    duplicate: bool = False
    reason: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether it is in the log."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Facts:
    """A subscription as the service tells it; `properties` are your own."""

    id: str
    geometry: dict[str, Any] | None
    predicate: str | None
    filter: str | dict[str, Any] | None
    webhook: dict[str, Any] | None
    properties: dict[str, Any]
    status: str
    version: int
    created: datetime
    activated: datetime | None
    feature: dict[str, Any] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may publish, subscribe or administer."""

    name: str
    rights: frozenset[str]
    created: datetime | None
