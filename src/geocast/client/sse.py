"""Server-sent events: bytes in, in pieces of any size, events out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from geocast.errors import ServiceError

__all__ = ["MAX_EVENT_BYTES", "Event", "EventParser"]

MAX_EVENT_BYTES: Final = 1 << 28
"""A longer event is a sign that the other side does not send events at all."""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `id` is the last that the stream has set, which may have been earlier."""

    name: str
    data: str
    id: str


class EventParser:
    """Reads one stream of events, as the HTML standard describes them.

    An event counts only when the blank line after it has come: what a broken connection leaves
    half-sent is never seen. `retry` is the delay in seconds that the stream asked for, if it
    did.
    """

    def __init__(self) -> None:
        self.retry: float | None = None
        self._rest: list[bytes] = []
        self._size = 0
        self._after_return = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        if not data:
            return []
        if self._after_return:
            data = data.removeprefix(b"\n")
        self._after_return = data.endswith(b"\r")
        first, *others = _LINE_END.split(data)
        self._hold(first)
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest, self._size = [], 0
        self._hold(others[-1])
        return [event for line in lines if (event := self._line(line)) is not None]

    def _hold(self, piece: bytes) -> None:
        self._rest.append(piece)
        self._size += len(piece)
        if self._size > MAX_EVENT_BYTES:
            raise ServiceError(f"an event of the stream is longer than {MAX_EVENT_BYTES >> 20} MB")

    def _line(self, line: bytes) -> Event | None:
        if self._at_start:
            line, self._at_start = line.removeprefix(_MARK), False
        if not line:
            return self._complete()
        name, _, value = line.partition(b":")
        self._field(name, value.removeprefix(b" ").decode(errors="replace"))
        return None

    def _field(self, name: bytes, value: str) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        elif name == b"id" and "\0" not in value:
            self._id = value
        elif name == b"retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1000

    def _complete(self) -> Event | None:
        name, data = self._name or "message", self._data
        self._name, self._data = "", []
        return Event(name, "\n".join(data), self._id) if data else None
