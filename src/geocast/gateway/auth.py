"""Who asks, and may they: bearer tokens and rights."""

from __future__ import annotations

import hashlib
import time
from typing import Final, Protocol
from urllib.parse import parse_qsl, urlencode

import anyio.to_thread
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from geocast.gateway.problems import Problem
from geocast.model import Account, Right

__all__ = ["Doorkeeper", "TokenFromQuery", "check_right", "token_of"]

_FRESH_SECONDS: Final = 1.0
_MOST_REMEMBERED: Final = 10_000
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="geocast"'}
_QUERY_PATHS: Final = ("/v1/stream", "/v1/session", "/v1/events/stream")


class _Accounts(Protocol):
    def authenticate(self, token: str) -> Account | None: ...


class Doorkeeper:
    """Knows accounts by their tokens, and remembers each for a second.

    Tokens themselves are not kept, only their hashes. A token that is revoked, or a right that is
    taken away, by this gateway counts at once (`forget`), by another process after that second.
    """

    def __init__(self, accounts: _Accounts) -> None:
        self._accounts = accounts
        self._known: dict[bytes, tuple[float, Account]] = {}

    async def account(self, token: str | None) -> Account:
        """Return the account that a token belongs to; a Problem (401) if there is none."""
        if not token:
            detail = "a token is needed: send the header `Authorization: Bearer <token>`"
            raise Problem(401, detail, headers=_CHALLENGE)
        digest = hashlib.sha256(token.encode()).digest()
        until, known = self._known.get(digest, (0.0, None))
        if known is not None and time.monotonic() < until:
            return known
        found = await anyio.to_thread.run_sync(self._accounts.authenticate, token)
        if found is None:
            challenge = {"WWW-Authenticate": 'Bearer realm="geocast", error="invalid_token"'}
            raise Problem(401, "the token is not known, or has expired", headers=challenge)
        self._remember(digest, found)
        return found

    def forget(self) -> None:
        """Look everybody up again."""
        self._known.clear()

    def _remember(self, digest: bytes, account: Account) -> None:
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[digest] = (time.monotonic() + _FRESH_SECONDS, account)


def check_right(account: Account, right: Right) -> None:
    """A Problem (403) unless the account has the right."""
    if right not in account.rights:
        raise Problem(403, f"account {account.name!r} does not have the right {right.value!r}")


class TokenFromQuery:
    """ASGI middleware for browsers, whose streams and sockets cannot send headers.

    Moves `access_token` from the query to the header, on the paths of streams and the session
    only; after it the query can be logged.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, without a token in its query."""
        if scope["type"] != "lifespan" and b"access_token=" in scope["query_string"]:
            _move_token(scope)
        await self._app(scope, receive, send)


def _move_token(scope: Scope) -> None:
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    tokens = [value for name, value in query if name == "access_token"]
    rest = [(name, value) for name, value in query if name != "access_token"]
    scope["query_string"] = urlencode(rest).encode("ascii")
    named = any(name == b"authorization" for name, _ in scope["headers"])
    if tokens and scope["path"] in _QUERY_PATHS and not named:
        header = (b"authorization", b"Bearer " + tokens[0].encode("utf-8"))
        scope["headers"] = [*scope["headers"], header]


def token_of(connection: HTTPConnection) -> str | None:
    """Return the bearer token that came with a request, if one did."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
