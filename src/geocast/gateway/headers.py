"""Headers that every answer has: nothing is guessed, nothing is kept, no address leaks.

An answer that says by itself how long it may be kept is not contradicted.
"""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["SafeHeaders"]

_ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class SafeHeaders:
    """ASGI middleware that adds them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its answer."""

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", [])
                names = {name.lower() for name, _ in given}
                added = [header for header in _ALWAYS if header[0] not in names]
                message["headers"] = [*given, *added]
            await send(message)

        await self._app(scope, receive, safely if scope["type"] == "http" else send)
