"""Publications as they come: one reader of the log for all who listen to a gateway."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from geocast.gateway.recent import Recent, document, records_of
from geocast.log import Log

__all__ = ["EventFeed", "Message"]

_journal = logging.getLogger(__name__)
_T = TypeVar("_T")
_WAITING_MESSAGES: Final = 20
_THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class Message:
    """Features that came up to `places` in the log, and how many more there were."""

    places: list[int]
    features: list[bytes]
    skipped: int

    @property
    def count(self) -> int:
        """How many publications it stands for."""
        return len(self.features) + self.skipped


@dataclass(eq=False)
class _Listener:
    """Whoever is slow gets a part of the messages, and is told how much is missing."""

    waiting: asyncio.Queue[Message | None] = field(
        default_factory=lambda: asyncio.Queue(_WAITING_MESSAGES)
    )
    lost: int = 0

    def tell(self, message: Message) -> None:
        try:
            self.waiting.put_nowait(replace(message, skipped=message.skipped + self.lost))
            self.lost = 0
        except asyncio.QueueFull:
            self.lost += message.count

    def end(self) -> None:
        while self.waiting.full():
            self.waiting.get_nowait()
        self.waiting.put_nowait(None)


class EventFeed:
    """Tells any number of listeners what is published, within one event loop.

    While somebody listens, a single task looks at the log every `period` seconds; what is new
    becomes one message, of at most `most` publications. With nobody listening nothing runs.
    """

    def __init__(self, log: Log, recent: Recent, *, period: float = 0.1, most: int = 1_000) -> None:
        self._log = log
        self._recent = recent
        self._period = period
        self._most = most
        self._listeners: set[_Listener] = set()
        self._places: list[int] = []
        self._reader: asyncio.Task[None] | None = None
        self._joining = asyncio.Lock()
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._closed = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    async def messages(
        self, after: list[int] | None = None, *, heartbeat: float
    ) -> AsyncGenerator[Message, None]:
        """Yield what is published from now on, or what follows the places `after`.

        The first message comes at once and says where it begins; an empty one comes after
        `heartbeat` seconds without another. Ends when the feed is closed.
        """
        listener = _Listener()
        places = await self._join(listener)
        try:
            yield await self._missed(after, places)
            while not self._closed:
                message = await _next(listener, heartbeat)
                if message is None:
                    return
                places = message.places or places
                yield replace(message, places=places)
        finally:
            self._leave(listener)

    async def close(self) -> None:
        """End all streams, after what they are busy with."""
        self._closed = True
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader
        for listener in self._listeners:
            listener.end()

    async def _join(self, listener: _Listener) -> list[int]:
        """Add a listener; return the places that it is told about from."""
        async with self._joining:
            if self._reader is None and not self._closed:
                self._places = await self._in_thread(self._log.ends)
                self._reader = asyncio.create_task(self._read(), name="event-feed")
            self._listeners.add(listener)
            return self._places

    def _leave(self, listener: _Listener) -> None:
        self._listeners.discard(listener)
        if not self._listeners and self._reader is not None:
            self._reader.cancel()
            self._reader = None

    async def _missed(self, after: list[int] | None, places: list[int]) -> Message:
        if after is None:
            return Message(places, [], 0)
        starts = [min(start, place) for start, place in zip(after, places, strict=True)]
        return await self._in_thread(partial(self._message, starts, places))

    async def _read(self) -> None:
        while True:
            try:
                await self._look()
                await asyncio.sleep(self._period)
            except Exception:
                _journal.exception("cannot look for new events; trying again")
                await asyncio.sleep(1.0)

    async def _look(self) -> None:
        ends = await self._in_thread(self._log.ends)
        if ends == self._places:
            return
        message = await self._in_thread(partial(self._message, self._places, ends))
        self._places = ends
        for listener in self._listeners:
            listener.tell(message)

    def _message(self, starts: list[int], ends: list[int]) -> Message:
        records = records_of(self._log, starts, ends, self._most)
        total = sum(end - start for start, end in zip(starts, ends, strict=True))
        standing = self._recent.standing(records)
        return Message(ends, list(map(document, standing)), total - len(records))

    async def _in_thread(self, call: Callable[[], _T]) -> _T:
        return await anyio.to_thread.run_sync(call, limiter=self._threads)


async def _next(listener: _Listener, heartbeat: float) -> Message | None:
    """Return the next message, an empty one without places after a while, None at the end."""
    try:
        async with asyncio.timeout(heartbeat):
            return await listener.waiting.get()
    except TimeoutError:
        return Message([], [], 0)
