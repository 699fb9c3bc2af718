"""Notifications that wait: read them, acknowledge them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson

from geocast.client.core import Core
from geocast.client.features import encode
from geocast.client.values import Notification
from geocast.client.wire import Request, Steps
from geocast.errors import InputError

__all__ = ["acknowledge", "acknowledgement", "read"]

_PATH: Final = "/v1/notifications"
_JSON: Final = {"content-type": "application/json"}


def read(
    core: Core, after: int | None, limit: int | None, subscription: str | None
) -> Steps[list[Notification]]:
    """Return notifications that are not acknowledged, in the order of their cursors."""
    asked = {"after": after, "limit": limit, "subscription": subscription}
    query = {name: value for name, value in asked.items() if value is not None}
    answer = yield from core.ask(Request("GET", _PATH, query), 200)
    with core.reading("the notifications"):
        events = orjson.loads(answer.body)["notifications"]
        found = [Notification.of(event) for event in events]
    return [notification for notification in found if notification is not None]


def acknowledge(
    core: Core,
    notifications: Iterable[Notification | int],
    through: int | None,
    subscription: str | None,
) -> Steps[int]:
    """Remove notifications from the mailbox; return how many were there."""
    cursors = [each if isinstance(each, int) else each.cursor for each in notifications]
    if bool(cursors) == (through is not None):
        raise InputError("acknowledge takes notifications or `through`, one of the two")
    request = acknowledgement(cursors, through, subscription)
    answer = yield from core.ask(request, 200)
    with core.reading("the acknowledgement"):
        return int(orjson.loads(answer.body)["acknowledged"])


def acknowledgement(
    cursors: list[int], through: int | None = None, subscription: str | None = None
) -> Request:
    """Return the request that acknowledges these, or all of a subscription up to `through`."""
    asked: dict[str, Any] = {"cursors": cursors} if cursors else {"through": through}
    if subscription is not None:
        asked["subscription"] = subscription
    return Request("POST", f"{_PATH}/ack", headers=_JSON, body=encode(asked))
