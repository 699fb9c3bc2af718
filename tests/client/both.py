"""The asynchronous client behind the interface of the synchronous one: one test for both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, cast

import httpx

from geocast.client import AsyncClient, Client, Subscription
from geocast.client.aio import AsyncSubscription

__all__ = ["KINDS", "Handler", "make_client", "mock_client"]

KINDS = ["sync", "async"]
Handler = Callable[[httpx.Request], httpx.Response]


def make_client(kind: str, *arguments: Any, **options: Any) -> Client:
    """Return a client of that kind, to be used as a synchronous one."""
    if kind == "sync":
        return Client(*arguments, **options)
    loop = asyncio.new_event_loop()
    return cast(Client, _Blocking(AsyncClient(*arguments, **options), loop))


def mock_client(kind: str, handler: Handler, **options: Any) -> Client:
    """Return a client whose requests a function answers."""
    return make_client(
        kind, "http://service", "gct_x", transport=httpx.MockTransport(handler), **options
    )


class _Blocking:
    def __init__(self, wrapped: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._wrapped, self._loop = wrapped, loop

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._wrapped, name)
        if not callable(value):
            return value
        return lambda *arguments, **options: self._sync(value(*arguments, **options))

    def _sync(self, value: Any) -> Any:
        if inspect.isasyncgen(value):
            return self._each(value)
        if inspect.iscoroutine(value):
            value = self._loop.run_until_complete(cast(Coroutine[Any, Any, Any], value))
        wraps = isinstance(value, AsyncSubscription)
        return cast(Subscription, _Blocking(value, self._loop)) if wraps else value

    def _each(self, values: AsyncIterator[Any]) -> Iterator[Any]:
        try:
            while True:
                try:
                    value = self._loop.run_until_complete(anext(values))
                except StopAsyncIteration:
                    return
                yield self._sync(value)
        finally:
            if not self._loop.is_closed():
                self._loop.run_until_complete(values.aclose())  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Any]:
        return self._each(aiter(self._wrapped))

    def __enter__(self) -> _Blocking:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._loop.run_until_complete(self._wrapped.aclose())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
