"""Do what the core wants done, and let others work meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, TypeVar

import httpx

from geocast.client.core import Core
from geocast.client.feed import Feed
from geocast.client.follow import settle
from geocast.client.sending import (
    answer_of,
    failure_of,
    http_options,
    request_options,
    stream_options,
)
from geocast.client.wire import Answer, Failure, Give, Open, Read, Request, Steps, Wait
from geocast.errors import ServiceError

__all__ = ["AsyncDriver"]

T = TypeVar("T")


class AsyncDriver:
    """Runs the steps of operations over one pool of connections, in one event loop."""

    def __init__(
        self, core: Core, timeout: float, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        self._core = core
        self._http = httpx.AsyncClient(transport=transport, **http_options(core, timeout))
        self._feeds: set[Feed] = set()

    async def run(self, steps: Steps[T]) -> T:
        """Return what the steps come to."""
        outcome = None
        while True:
            try:
                action = steps.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = await self._do(action)

    async def iterate(
        self, steps: Steps[None], feed: Feed | None = None
    ) -> AsyncGenerator[Any, None]:
        """Yield what the steps give; at the end, settle the feed."""
        stream = _AsyncStream(self._core, self._http)
        if feed is not None:
            self._feeds.add(feed)
        try:
            while (given := await self._advance(steps, stream)) is not None:
                yield given.value
        finally:
            steps.close()
            await stream.close()
            if feed is not None:
                await self._leave(feed)

    async def _advance(self, steps: Steps[None], stream: _AsyncStream) -> Give[Any] | None:
        """Do what the steps say until they give something; None at their end."""
        outcome: Any = None
        while True:
            try:
                action = steps.send(outcome)
            except StopIteration:
                return None
            if isinstance(action, Give):
                return action
            if isinstance(action, Open):
                self._check_open()
                outcome = await stream.open(action)
            elif isinstance(action, Read):
                outcome = await stream.read()
            else:
                outcome = await self._do(action)

    async def _leave(self, feed: Feed) -> None:
        self._feeds.discard(feed)
        if not self._http.is_closed:
            await self.run(settle(self._core, feed))

    async def _do(self, action: Any) -> Answer | Failure | None:
        if isinstance(action, Wait):
            await asyncio.sleep(action.seconds)
            return None
        assert isinstance(action, Request), action
        self._check_open()
        try:
            return answer_of(
                self._core, await self._http.request(**request_options(self._core, action))
            )
        except httpx.RequestError as error:
            return failure_of(self._core, error)

    def _check_open(self) -> None:
        if self._http.is_closed:
            raise ServiceError("the client is closed")

    async def close(self) -> None:
        """Acknowledge what was consumed, and close all connections."""
        for feed in list(self._feeds):
            await self._leave(feed)
        await self._http.aclose()


class _AsyncStream:
    """The answer that is being read, one at a time."""

    def __init__(self, core: Core, http: httpx.AsyncClient) -> None:
        self._core, self._http = core, http
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    async def open(self, action: Open) -> Answer | Failure:
        await self.close()
        request = self._http.build_request(**stream_options(self._core, action))
        try:
            response = await self._http.send(request, stream=True)
            if response.status_code != 200:
                await response.aread()
                return answer_of(self._core, response)
        except httpx.RequestError as error:
            return failure_of(self._core, error)
        self._response, self._pieces = response, response.aiter_bytes()
        return Answer(200, response.headers, b"")

    async def read(self) -> bytes | Failure:
        try:
            return b"" if self._pieces is None else await anext(self._pieces, b"")
        except (httpx.RequestError, httpx.StreamError) as error:
            return failure_of(self._core, error)

    async def close(self) -> None:
        response, self._response, self._pieces = self._response, None, None
        if response is not None:
            await response.aclose()
