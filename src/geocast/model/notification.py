"""A notification: what a subscriber is told, and its form as a CloudEvent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import orjson

from geocast.model.times import to_rfc3339

__all__ = ["Kind", "Notification", "cloud_event", "event_id"]

_FEATURE: Final = b',"feature":'


class Kind(IntEnum):
    """What a notification says: an event concerns you; or an event is withdrawn."""

    MATCH = 0
    WITHDRAWAL = 1


_TYPES: Final = {Kind.MATCH: "geocast.match.v1", Kind.WITHDRAWAL: "geocast.withdrawal.v1"}


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


def event_id(notification: Notification) -> str:
    """Return the id of the CloudEvent: the match id, with "-withdrawn" for a withdrawal.

    So a match and its withdrawal are two messages, each the same however often it is sent.
    """
    return notification.match + ("-withdrawn" if notification.kind is Kind.WITHDRAWAL else "")


def cloud_event(notification: Notification) -> bytes:
    """Return the notification as a CloudEvent in JSON; a withdrawal has no feature."""
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": event_id(notification),
        "source": f"/accounts/{notification.publisher}",
        "type": _TYPES[notification.kind],
        "subject": notification.publication,
        "time": to_rfc3339(notification.published),
        "datacontenttype": "application/json",
        "geocastcursor": notification.cursor,
        "data": {
            "subscription": notification.subscription,
            "version": notification.version,
            "publication": notification.publication,
            "match": notification.match,
            "notified": to_rfc3339(notification.notified),
        },
    }
    head = orjson.dumps(event)
    if notification.kind is not Kind.MATCH:
        return head
    # A feature is large, and copied once only: its text is put in front of the two last braces.
    return b"".join((head[:-2], _FEATURE, notification.feature, b"}}"))
