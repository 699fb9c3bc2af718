"""Notifications and bundles: what a subscriber is told, and its form as a CloudEvent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

import orjson

from geocast.model.times import to_rfc3339

__all__ = [
    "Bundle",
    "BundledMatch",
    "Kind",
    "Notification",
    "bundle_event",
    "cloud_event",
    "event_id",
]

_FEATURE: Final = b',"feature":'


class Kind(IntEnum):
    """What a notification says: an event concerns you; or an event is withdrawn."""

    MATCH = 0
    WITHDRAWAL = 1


_TYPES: Final = {Kind.MATCH: "geocast.match.v1", Kind.WITHDRAWAL: "geocast.withdrawal.v1"}
_BUNDLE_TYPES: Final = {
    Kind.MATCH: "geocast.matches.v1",
    Kind.WITHDRAWAL: "geocast.withdrawals.v1",
}


@dataclass(frozen=True, slots=True)
class Notification:
    """One entry of a mailbox.

    `cursor` is its place in the order of the account's mailbox; `match` is the match id, which
    is the same in the withdrawal of a match. `feature` is the publication as GeoJSON text.
    `published` is the publication's time in its log, `notified` when it reached the mailbox.
    """

    cursor: int
    match: str
    kind: Kind
    subscription: str
    version: int
    publisher: str
    publication: str
    published: int
    notified: int
    feature: bytes


class BundledMatch(NamedTuple):
    """One match of a bundle: its id, and the subscription with its version."""

    match: str
    subscription: str
    version: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """What an event is to a topic: all of its matches that go there, at once.

    `cursor` is that of one of them, the first if nothing was moved; the rest is as in a
    `Notification`.
    """

    cursor: int
    kind: Kind
    matches: Sequence[BundledMatch]
    publisher: str
    publication: str
    published: int
    notified: int
    feature: bytes


def event_id(told: Notification | Bundle) -> str:
    """Return the id of the CloudEvent: the match id, with "-withdrawn" for a withdrawal.

    So a match and its withdrawal are two messages, each the same however often it is sent. A
    bundle goes by the id of its first match.
    """
    match = told.match if isinstance(told, Notification) else told.matches[0].match
    return match + ("-withdrawn" if told.kind is Kind.WITHDRAWAL else "")


def cloud_event(notification: Notification) -> bytes:
    """Return the notification as a CloudEvent in JSON; a withdrawal has no feature."""
    data = {
        "subscription": notification.subscription,
        "version": notification.version,
        "publication": notification.publication,
        "match": notification.match,
    }
    return _event(notification, _TYPES[notification.kind], data)


def bundle_event(bundle: Bundle) -> bytes:
    """Return the bundle as a CloudEvent in JSON; a withdrawal has no feature."""
    matches = [
        {"subscription": name, "version": version, "match": match}
        for match, name, version in bundle.matches
    ]
    data = {"publication": bundle.publication, "matches": matches}
    return _event(bundle, _BUNDLE_TYPES[bundle.kind], data)


def _event(told: Notification | Bundle, kind: str, data: dict[str, Any]) -> bytes:
    event = {
        "specversion": "1.0",
        "id": event_id(told),
        "source": f"/accounts/{told.publisher}",
        "type": kind,
        "subject": told.publication,
        "time": to_rfc3339(told.published),
        "datacontenttype": "application/json",
        "geocastcursor": told.cursor,
        "data": {**data, "notified": to_rfc3339(told.notified)},
    }
    head = orjson.dumps(event)
    if told.kind is not Kind.MATCH:
        return head
    # A feature is large, and copied once only: its text is put in front of the two last braces.
    return b"".join((head[:-2], _FEATURE, told.feature, b"}}"))
