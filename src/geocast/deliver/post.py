"""One webhook's line: a kept connection, over which notifications are posted and signed."""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import httpcore
import httpx

from geocast.deliver.address import check_url
from geocast.deliver.connect import CheckedBackend
from geocast.deliver.signing import sign, signing_key
from geocast.model import Notification, cloud_event, event_id

__all__ = ["Answer", "Line", "LineOptions"]

_MOST_ANSWER: Final = 64 << 10
_KEPT_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOptions:
    """What all lines of a service share. `timeout` is for a whole post, in seconds."""

    timeout: float
    allow_private: bool
    network: CheckedBackend
    certificates: ssl.SSLContext


@dataclass(frozen=True, slots=True)
class Answer:
    """How a post ended: an HTTP status, or the reason for which there is none."""

    status: int | None
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the receiver has taken the notification."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether the receiver wants nothing any more."""
        return self.status == HTTPStatus.GONE

    def __str__(self) -> str:
        if self.status is None:
            return self.reason
        redirect = ", and redirects are not followed" if 300 <= self.status < 400 else ""
        return f"the receiver answered {self.status}{redirect}"


class Line:
    """Posts notifications to one URL, one at a time; InputError if URL or secret are unusable."""

    def __init__(self, url: str, secret: str, options: LineOptions) -> None:
        check_url(url, options.allow_private)
        parsed = httpx.URL(url)
        self._key = signing_key(secret)
        self._options = options
        self._host = parsed.netloc
        self._url = httpcore.URL(
            scheme=parsed.raw_scheme,
            host=parsed.raw_host,
            port=parsed.port,
            target=parsed.raw_path,
        )
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def post(self, notification: Notification) -> Answer:
        """Send one notification and say what came of it; raises nothing that a receiver causes.

        After anything but an answer the connection is given up, and the next post makes a new
        one, with a new look at the addresses.
        """
        try:
            async with asyncio.timeout(self._options.timeout):
                return await self._exchange(notification)
        except TimeoutError:
            reason = f"no answer within {self._options.timeout:g} s"
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            reason = str(error) or type(error).__name__
        await self.close()
        return Answer(None, reason)

    async def _exchange(self, notification: Notification) -> Answer:
        body = cloud_event(notification)
        timeouts = {"connect": self._options.timeout}
        async with self._connected().stream(
            "POST",
            self._url,
            headers=self._headers(notification, body),
            content=body,
            extensions={"timeout": timeouts},
        ) as response:
            size = 0
            async for piece in response.aiter_stream():
                size += len(piece)
                if size > _MOST_ANSWER:
                    break
            return Answer(response.status)

    def _headers(self, notification: Notification, body: bytes) -> list[tuple[bytes, bytes]]:
        identifier = event_id(notification)
        timestamp = int(time.time())
        return [
            (b"host", self._host),
            (b"user-agent", b"geocast"),
            (b"content-type", b"application/cloudevents+json"),
            (b"content-length", b"%d" % len(body)),
            (b"webhook-id", identifier.encode()),
            (b"webhook-timestamp", b"%d" % timestamp),
            (b"webhook-signature", sign(self._key, identifier, timestamp, body).encode()),
        ]

    def _connected(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=self._options.certificates,
                max_connections=1,
                keepalive_expiry=_KEPT_SECONDS,
                network_backend=self._options.network,
            )
        return self._pool

    async def close(self) -> None:
        """Give up the connection."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()
