"""How requests and answers look to httpx, the same for both clients."""

from __future__ import annotations

from typing import Any, Final

import httpx

from geocast.client.core import Core
from geocast.client.wire import Answer, Failure, Open, Request

__all__ = ["answer_of", "failure_of", "http_options", "request_options", "stream_options"]

_CONNECT_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 2.0
"""Kept shorter than a server keeps an idle connection, so that none is closed as it is used."""

_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def http_options(core: Core, timeout: float) -> dict[str, Any]:
    """Return the options of an httpx client; as many connections as streams may be open."""
    return {
        "headers": core.headers,
        "timeout": httpx.Timeout(timeout, connect=_CONNECT_SECONDS, pool=None),
        "limits": httpx.Limits(max_connections=None, keepalive_expiry=_IDLE_SECONDS),
        "trust_env": not core.is_local,
    }


def request_options(core: Core, request: Request) -> dict[str, Any]:
    """Return what httpx needs to know of a request."""
    return {
        "method": request.method,
        "url": core.url + request.path,
        "params": dict(request.query),
        "headers": dict(request.headers),
        "content": request.body,
    }


def stream_options(core: Core, action: Open) -> dict[str, Any]:
    """Return what httpx needs to know of a request whose answer is read bit by bit."""
    timeout = httpx.Timeout(_CONNECT_SECONDS, read=max(action.silence, 0.01), pool=None)
    return {**request_options(core, action.request), "timeout": timeout}


def answer_of(response: httpx.Response) -> Answer:
    """Return an answer that has been read."""
    return Answer(response.status_code, response.headers, response.content)


def failure_of(error: Exception) -> Failure:
    """Return why there is no answer."""
    reason = str(error) or type(error).__name__
    return Failure(reason, sent=not isinstance(error, _NEVER_SENT))
