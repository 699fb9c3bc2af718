"""The gateway as a process."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import threading
from contextlib import ExitStack, closing
from types import FrameType
from typing import Final

import pyarrow as pa
import uvicorn
from fastapi import FastAPI

from geocast.gateway.app import create_app
from geocast.gateway.parts import Parts
from geocast.gateway.protocol import GuardedProtocol
from geocast.log import SqliteLog
from geocast.match.subscriptions import read_subscriptions
from geocast.operate import Place, Settings, allow_many_files, is_held
from geocast.repository import Repository

__all__ = ["GatewayServer", "run_gateway", "server_config"]

_journal = logging.getLogger(__name__)
_GRACE_SECONDS: Final = 3
_KEEP_ALIVE_SECONDS: Final = 30
_BACKLOG: Final = 4096


class GatewayServer(uvicorn.Server):
    """A server that ends all streams when it is told to stop, and returns then."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at the second interrupt at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then wait for the requests that are being answered."""
        app = self.config.app
        assert isinstance(app, FastAPI)
        parts: Parts = app.state.parts
        await parts.feed.close()
        await super().shutdown(sockets)


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return how uvicorn serves a gateway: nothing that it logs has a token in it."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=GuardedProtocol,
        ws_max_size=settings.max_body,
        ws_per_message_deflate=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        backlog=_BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )


def run_gateway(place: Place, settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; open streams do not keep it from stopping."""
    allow_many_files()
    with ExitStack() as stack:
        repository = stack.enter_context(closing(Repository.open(place.repository)))
        log = stack.enter_context(closing(SqliteLog.open(place.publications, settings.partitions)))
        app = create_app(repository, log, settings, lambda: is_held(place.ready))
        threading.Thread(target=_prepare, name="prepare", daemon=True).start()
        GatewayServer(server_config(app, settings)).run()
    _journal.info("the gateway has stopped")


def _prepare() -> None:
    """Load kernels before a client has to wait for them, then shorten garbage collection.

    It runs often where there are many features; what is there for good it need not look at.
    """
    read_subscriptions(pa.table({"id": ["warm"], "filter": ["S_WITHIN(geometry, POINT(0 0))"]}))
    gc.collect()
    gc.freeze()
