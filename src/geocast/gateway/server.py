"""The gateway as a process."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import threading
from contextlib import ExitStack, closing
from functools import partial
from types import FrameType
from typing import Final

import pyarrow as pa
import uvicorn
from fastapi import FastAPI

from geocast.gateway.app import create_app
from geocast.gateway.parts import Parts
from geocast.gateway.protocol import GuardedProtocol
from geocast.log import publications
from geocast.match.subscriptions import read_subscriptions
from geocast.operate import Certificate, Place, Settings, allow_many_files, is_gone, is_held
from geocast.repository import Repository, joined

__all__ = ["GatewayServer", "run_gateway", "server_config"]

_journal = logging.getLogger(__name__)
_GRACE_SECONDS: Final = 3
_KEEP_ALIVE_SECONDS: Final = 30
_BACKLOG: Final = 4096
_LOOK_SECONDS: Final = 10.0


class GatewayConfig(uvicorn.Config):
    """How uvicorn serves a gateway; with a certificate, by TLS and nothing else."""

    certificate: Certificate | None = None

    def load(self) -> None:
        """Read what is configured."""
        super().load()
        self.ssl = self.certificate.context if self.certificate else None


class GatewayServer(uvicorn.Server):
    """A server that ends all streams when it is told to stop, and returns then.

    It looks now and then whether its certificate was replaced, and at once by SIGHUP.
    """

    config: GatewayConfig
    _looking: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        await super().startup(sockets)
        if self.config.certificate is not None:
            self._looking = asyncio.create_task(self._look(self.config.certificate))
            if threading.current_thread() is threading.main_thread():
                refresh = self.config.certificate.refresh
                asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, refresh)

    async def _look(self, certificate: Certificate) -> None:
        # In the event loop, where no connection is being made meanwhile.
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            certificate.refresh()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at the second interrupt at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then wait for the requests that are being answered."""
        app = self.config.app
        assert isinstance(app, FastAPI)
        parts: Parts = app.state.parts
        if self._looking is not None:
            self._looking.cancel()
        await parts.close_streams()
        await super().shutdown(sockets)


def server_config(app: FastAPI, settings: Settings) -> GatewayConfig:
    """Return how uvicorn serves a gateway: nothing that it logs has a token in it.

    Raises InputError where its certificate cannot be used.
    """
    found = GatewayConfig(
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
    found.certificate = settings.certificate
    return found


def run_gateway(place: Place, settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; open streams do not keep it from stopping."""
    allow_many_files()
    with ExitStack() as stack:
        opened = Repository.open(place.repository, connections=settings.repository_connections)
        repository = stack.enter_context(closing(opened))
        log = stack.enter_context(closing(publications(place, settings).open()))
        # So that others end its sessions, where it is stopped in the middle of writing.
        stack.enter_context(joined(place.repository, "gateway"))
        app = create_app(repository, log, settings, partial(_is_matched, place, repository))
        threading.Thread(target=_prepare, name="prepare", daemon=True).start()
        GatewayServer(server_config(app, settings)).run()
    _journal.info("the gateway has stopped")


def _is_matched(place: Place, repository: Repository) -> bool:
    """Whether there is a pipeline: on this directory, or somewhere with this repository."""
    if is_held(place.ready):
        return True
    return any(not is_gone(name) for name in repository.members.present("pipeline"))


def _prepare() -> None:
    """Load kernels before a client has to wait for them, then shorten garbage collection.

    It runs often where there are many features; what is there for good it need not look at.
    """
    read_subscriptions(pa.table({"id": ["warm"], "filter": ["S_WITHIN(geometry, POINT(0 0))"]}))
    gc.collect()
    gc.freeze()
