"""What the repository takes and gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = [
    "SUBSCRIPTIONS",
    "TOPIC_SCHEME",
    "Bounds",
    "Changes",
    "DeadLetter",
    "Division",
    "Endpoint",
    "EndpointState",
    "Owners",
    "Pinned",
    "Status",
    "Subscription",
    "TokenInfo",
    "VersionFact",
    "Wanted",
    "Withdrawn",
]

Bounds = tuple[float, float, float, float]
"""West, south, east, north."""

Status = Literal["pending", "active", "paused", "cancelled"]
EndpointState = Literal["active", "parked"]

TOPIC_SCHEME: Final = "kafka:"
"""How the address of an endpoint begins that is a topic; its name follows."""

SUBSCRIPTIONS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("geometry", pa.binary()),
        pa.field("predicate", pa.string()),
        pa.field("filter", pa.string()),
    ]
)
"""Subscription versions as a matcher reads them; the id is the version's number as text."""


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """What is known of a token; the token itself is not."""

    number: int
    label: str
    created: int
    expires: int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a subscriber asks for, checked by the caller.

    `endpoint` is the number of the webhook to notify; `bounds` are those of the geometry.
    """

    geometry: bytes | None
    predicate: str | None
    filter: str | None
    properties: dict[str, Any] = field(default_factory=dict)
    endpoint: int | None = None
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription and the newest of its versions.

    `number` is the repository's own, `id` the account's; `vnumber` tells this version from all
    versions of all subscriptions. It is pending until a snapshot has the newest version, at
    `activated`; an earlier version stays active until then. While it is paused, its newest
    version is removed, as that of a cancelled one is.
    """

    number: int
    id: str
    account: int
    version: int
    vnumber: int
    wanted: Wanted
    status: Status
    created: int
    changed: int
    activated: int | None


@dataclass(frozen=True, slots=True)
class VersionFact:
    """When one version of a subscription was active.

    It is in the snapshots from `activated_snapshot` on, and in those before `removed_snapshot`.
    `added` and `removed` are its numbers in the sequence of changes; `activated_at` and
    `removed_at` the times of the snapshots. A version that was removed before a snapshot had it
    has no `activated_snapshot`.
    """

    vnumber: int
    version: int
    wanted: Wanted
    created: int
    added: int
    removed: int | None
    activated_snapshot: int | None
    activated_at: int | None
    removed_snapshot: int | None
    removed_at: int | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What a range of changes does to the set of standing versions.

    `table` has the versions to add (schema SUBSCRIPTIONS), `removed` the numbers of those to
    remove; `through` is the last change of the range, `count` how many there are.
    """

    table: pa.Table
    removed: list[int]
    through: int
    count: int


@dataclass(frozen=True, slots=True)
class Owners:
    """Whom versions belong to, in arrays that correspond.

    `endpoint` is -1 where there is none, `bundled` is 1 where it is a topic.
    """

    vnumber: npt.NDArray[np.int64]
    account: npt.NDArray[np.int64]
    subscription: npt.NDArray[np.int64]
    endpoint: npt.NDArray[np.int64]
    bundled: npt.NDArray[np.int64]

    def those(self, chosen: npt.NDArray[Any]) -> Owners:
        """Return the owners that a mask, or their places, choose."""
        return Owners(
            self.vnumber[chosen],
            self.account[chosen],
            self.subscription[chosen],
            self.endpoint[chosen],
            self.bundled[chosen],
        )


@dataclass(frozen=True, slots=True)
class Pinned:
    """A batch of a query, and the snapshot version that it is matched with."""

    batch: int
    snapshot: int
    pinned_at: int
    finished_at: int | None
    ranges: dict[int, tuple[int, int]]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What a withdrawal did.

    `known`: the publication had been matched, or withdrawn before; `removed` notifications that
    nobody had seen are gone, `notices` tell others that what they saw is withdrawn.
    """

    known: bool
    removed: int
    notices: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be used; `number` and `at` are the repository's."""

    where: str
    publisher: str | None
    id: str | None
    reason: str
    value: bytes
    partition: int | None = None
    offset: int | None = None
    number: int = 0
    at: int = 0


@dataclass(frozen=True, slots=True)
class Division:
    """The shares of a work that a member has: those to go on with, those to give up soon."""

    held: frozenset[int]
    leaving: frozenset[int]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A webhook or a topic: where to, and how it fares.

    `attempts` have failed since the last success; the next is due at `next_try`. A parked
    endpoint is not tried until it is resumed.
    """

    number: int
    account: int
    url: str
    secret: str = field(repr=False)
    state: EndpointState
    attempts: int
    next_try: int | None
    last_error: str | None
    last_status: int | None
    changed: int

    @property
    def topic(self) -> str | None:
        """The name of the topic that it is; None for a webhook."""
        is_topic = self.url.startswith(TOPIC_SCHEME)
        return self.url.removeprefix(TOPIC_SCHEME) if is_topic else None
