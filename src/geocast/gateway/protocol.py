"""The HTTP protocol of the server, with an end to what is begun and never finished.

uvicorn waits for ever for a request that does not come, or does not end. Here a connection is
closed that has not sent the head of a request in time, sends a head that has no end, or does not
finish a body that has been answered already. Bodies that are being read are `BodyLimit`'s.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["HEAD_BYTES", "HEAD_SECONDS", "GuardedProtocol"]

HEAD_SECONDS: Final = 10.0
"""How long a client may take for the head of a request, or to finish what is answered."""

HEAD_BYTES: Final = 1 << 16
"""How long a head may be; what comes in one piece may be longer by that piece."""


class GuardedProtocol(HttpToolsProtocol):
    """One connection."""

    head_seconds = HEAD_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._in_head = True
        self._head_size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request, for a while."""
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; close the connection if the head is too long."""
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        self._head_size += len(data)
        if self._head_size > HEAD_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """A further request begins, and its head with it."""
        super().on_message_begin()
        self._in_head, self._head_size = True, 0
        if self._timer is None:
            self._arm()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        self._disarm()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is there."""
        self._disarm()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer is sent; the rest of the body, if it is still on its way, is waited for."""
        super().on_response_complete()
        if self.cycle.more_body and not self.transport.is_closing():
            self._arm()

    def _arm(self) -> None:
        self._disarm()
        self._timer = self.loop.call_later(self.head_seconds, self._refuse, b"408 Request Timeout")

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head and self._head_size:
            self.transport.write(
                b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % status
            )
        self.transport.close()
