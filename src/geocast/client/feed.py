"""What a reader of the stream of notifications remembers."""

from __future__ import annotations

import logging
from collections import deque
from typing import Final

import orjson

from geocast.client.sse import EventParser
from geocast.client.values import Notification
from geocast.client.wire import Request

__all__ = ["Feed"]

_LARGEST_GROUP: Final = 1_000
_log: Final = logging.getLogger(__name__)


class Feed:
    """What a reader of notifications remembers, between connections and between loops.

    `waiting` came and is not handed out; `consumed` are the cursors of those the user is done
    with and the service does not know of; `handed` is the cursor of the last that was handed out.
    `remember` is how many ids are kept to know repetitions by.
    """

    def __init__(
        self, subscription: str | None = None, after: int | None = None, remember: int = 10_000
    ) -> None:
        self.subscription = subscription
        self.waiting: deque[Notification] = deque()
        self.consumed: list[int] = []
        self.handed: int | None = None
        self.retry: float | None = None
        self._in_use = False
        self._after = after
        self._position = ""
        self._parser = EventParser()
        self._seen: dict[str, None] = {}
        self._remember = remember

    def request(self) -> Request:
        """Return the request for what comes behind the last whole event; forget half of one."""
        self._parser = EventParser()
        asked = {"subscription": self.subscription, "after": self._after}
        query = {name: value for name, value in asked.items() if value is not None}
        headers = {"accept": "text/event-stream", "cache-control": "no-store"}
        if self._position:
            headers["last-event-id"] = self._position
        return Request("GET", "/v1/stream", query, headers)

    def receive(self, data: bytes) -> None:
        """Take bytes of the stream, and let what is new in them wait to be handed out."""
        for event in self._parser.feed(data):
            notification = Notification.of(orjson.loads(event.data))
            self._position = event.id or self._position
            if notification is None:
                _log.warning("an event of an unknown kind is passed over: %s", event.name)
            elif notification.id not in self._seen:
                self._note(notification.id)
                self.waiting.append(notification)
        self.retry = self._parser.retry

    def _note(self, identifier: str) -> None:
        self._seen[identifier] = None
        if len(self._seen) > self._remember:
            del self._seen[next(iter(self._seen))]

    def hand_out(self) -> Notification:
        """Return the next that waits."""
        notification = self.waiting.popleft()
        self.handed, self._in_use = notification.cursor, True
        return notification

    def asked_for_more(self) -> None:
        """Note that the user is done with what was handed out last."""
        if self._in_use and self.handed is not None:
            self.consumed.append(self.handed)
        self._in_use = False

    def take_consumed(self) -> list[int]:
        """Return cursors to be acknowledged together; they are the caller's now."""
        group = self.consumed[:_LARGEST_GROUP]
        del self.consumed[: len(group)]
        return group

    def give_back(self, group: list[int]) -> None:
        """Take back cursors that could not be acknowledged."""
        self.consumed[:0] = group
