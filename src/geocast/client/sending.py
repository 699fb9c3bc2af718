"""How requests and answers look to httpx, the same for both clients."""

from __future__ import annotations

import ssl
from typing import Any, Final

import httpx

from geocast.client.core import Core
from geocast.client.wire import Answer, Failure, Open, Request
from geocast.errors import InputError

__all__ = ["answer_of", "failure_of", "http_options", "request_options", "stream_options"]

_CONNECT_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 2.0
"""Kept shorter than a server keeps an idle connection, so that none is closed as it is used."""

_AWAY: Final = (502, 503, 504)
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def http_options(core: Core, timeout: float) -> dict[str, Any]:
    """Return the options of an httpx client; as many connections as streams may be open."""
    return {
        "headers": core.headers,
        "timeout": httpx.Timeout(timeout, connect=_CONNECT_SECONDS, pool=None),
        "limits": httpx.Limits(max_connections=None, keepalive_expiry=_IDLE_SECONDS),
        "trust_env": not core.is_local,
        "verify": True if core.ca is None else _trusting(core.ca),
    }


def _trusting(ca: str) -> ssl.SSLContext:
    """Return how to check a certificate by those in a file; InputError where there are none."""
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise InputError(f"{ca}: no certificate in PEM") from None
    except OSError as error:
        raise InputError(f"{ca}: {error.strerror}") from None


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


def answer_of(core: Core, response: httpx.Response) -> Answer:
    """Return an answer that has been read; a gateway that cannot help is left for another."""
    if response.status_code in _AWAY:
        core.avoid(str(response.request.url))
    return Answer(response.status_code, response.headers, response.content)


def failure_of(core: Core, error: httpx.RequestError | httpx.StreamError) -> Failure:
    """Return why there is no answer; whoever gave none is left for another gateway."""
    if isinstance(error, httpx.RequestError):
        core.avoid(str(error.request.url))
    reason = str(error) or type(error).__name__
    return Failure(reason, sent=not isinstance(error, _NEVER_SENT))
