"""Do what the core wants done, and wait for it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
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

__all__ = ["Driver"]

T = TypeVar("T")


class Driver:
    """Runs the steps of operations over one pool of connections; threads may share it."""

    def __init__(self, core: Core, timeout: float, transport: httpx.BaseTransport | None) -> None:
        self._core = core
        self._http = httpx.Client(transport=transport, **http_options(core, timeout))
        self._feeds: set[Feed] = set()

    def run(self, steps: Steps[T]) -> T:
        """Return what the steps come to."""
        outcome = None
        while True:
            try:
                action = steps.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = self._do(action)

    def iterate(self, steps: Steps[None], feed: Feed | None = None) -> Generator[Any, None, None]:
        """Yield what the steps give; at the end, settle the feed."""
        stream = _Stream(self._core, self._http)
        if feed is not None:
            self._feeds.add(feed)
        try:
            while (given := self._advance(steps, stream)) is not None:
                yield given.value
        finally:
            steps.close()
            stream.close()
            if feed is not None:
                self._leave(feed)

    def _advance(self, steps: Steps[None], stream: _Stream) -> Give[Any] | None:
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
                outcome = stream.open(action)
            elif isinstance(action, Read):
                outcome = stream.read()
            else:
                outcome = self._do(action)

    def _leave(self, feed: Feed) -> None:
        self._feeds.discard(feed)
        if not self._http.is_closed:
            self.run(settle(self._core, feed))

    def _do(self, action: Any) -> Answer | Failure | None:
        if isinstance(action, Wait):
            time.sleep(action.seconds)
            return None
        assert isinstance(action, Request), action
        self._check_open()
        try:
            response = self._http.request(**request_options(self._core, action))
            return answer_of(self._core, response)
        except httpx.RequestError as error:
            return failure_of(self._core, error)

    def _check_open(self) -> None:
        if self._http.is_closed:
            raise ServiceError("the client is closed")

    def close(self) -> None:
        """Acknowledge what was consumed, and close all connections."""
        for feed in list(self._feeds):
            self._leave(feed)
        self._http.close()


class _Stream:
    """The answer that is being read, one at a time."""

    def __init__(self, core: Core, http: httpx.Client) -> None:
        self._core, self._http = core, http
        self._response: httpx.Response | None = None
        self._pieces: Iterator[bytes] = iter(())

    def open(self, action: Open) -> Answer | Failure:
        self.close()
        request = self._http.build_request(**stream_options(self._core, action))
        try:
            response = self._http.send(request, stream=True)
            if response.status_code != 200:
                response.read()
                return answer_of(self._core, response)
        except httpx.RequestError as error:
            return failure_of(self._core, error)
        self._response, self._pieces = response, response.iter_bytes()
        return Answer(200, response.headers, b"")

    def read(self) -> bytes | Failure:
        try:
            return next(self._pieces, b"")
        except (httpx.RequestError, httpx.StreamError) as error:
            return failure_of(self._core, error)

    def close(self) -> None:
        response, self._response, self._pieces = self._response, None, iter(())
        if response is not None:
            response.close()
