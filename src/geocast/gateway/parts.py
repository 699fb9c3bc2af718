"""What the routes of one gateway share, and how they run what would block the event loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import HTTPConnection

from geocast.deliver import LiveFeed
from geocast.gateway.appender import Appender
from geocast.gateway.assets import STATIC, Assets
from geocast.gateway.attributes import AttributesSeen
from geocast.gateway.auth import Doorkeeper
from geocast.gateway.event_feed import EventFeed
from geocast.gateway.limits import Rates, Room
from geocast.gateway.pace import Pace
from geocast.gateway.recent import Recent
from geocast.log import Log
from geocast.operate import Settings
from geocast.repository import Repository

__all__ = ["Parts", "parts_of"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_HEAVY_THREADS: Final = 4
_LOOKING_THREADS: Final = 2
_LIGHT_THREADS: Final = 40


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one gateway.

    Short questions to the repository run in `ask`, the reading of bodies in `work`, long looks at
    the log in `look`, each with threads of its own: none must keep the others waiting.
    """

    repository: Repository
    log: Log
    settings: Settings
    pipeline_ready: Callable[[], bool]
    doorkeeper: Doorkeeper
    rates: Rates
    room: Room
    appender: Appender
    feed: LiveFeed
    recent: Recent
    attributes: AttributesSeen
    events: EventFeed
    assets: Assets
    pace: Pace
    _light: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_LIGHT_THREADS)
    )
    _heavy: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_HEAVY_THREADS)
    )

    _looking: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_LOOKING_THREADS)
    )

    @classmethod
    def of(
        cls,
        repository: Repository,
        log: Log,
        settings: Settings,
        ready: Callable[[], bool],
        static: Path = STATIC,
    ) -> Parts:
        """Return the parts of a gateway to this repository and log."""
        recent = Recent(repository, log)
        return cls(
            repository,
            log,
            settings,
            ready,
            Doorkeeper(repository.accounts),
            Rates(settings),
            Room(settings.max_subscriptions, repository.subscriptions.count),
            Appender(log),
            LiveFeed(repository),
            recent,
            AttributesSeen(recent),
            EventFeed(log, recent),
            Assets(static),
            Pace(),
        )

    async def ask(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return what a short call returns, made in a thread."""
        return await anyio.to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._light)

    async def work(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return what a long call returns, made in a thread."""
        return await anyio.to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._heavy)

    async def look(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return what a call returns that reads much of the log, made in a thread."""
        return await anyio.to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._looking)

    async def close_streams(self) -> None:
        """End all streams."""
        await self.feed.close()
        await self.events.close()

    async def close(self) -> None:
        """End all streams and write what waits to be written."""
        await self.close_streams()
        await anyio.to_thread.run_sync(self.appender.close)


def parts_of(connection: HTTPConnection) -> Parts:
    """Return the parts of the gateway that serves a request."""
    parts: Parts = connection.app.state.parts
    return parts
