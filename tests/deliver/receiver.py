"""A receiver of webhooks: a real HTTP server that remembers what it was sent."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

__all__ = ["Post", "Receiver", "receiving", "until"]


@dataclass(frozen=True)
class Post:
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    connection: int

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = orjson.loads(self.body)
        return event

    @property
    def publication(self) -> str:
        return str(self.event["subject"])


Reply = Callable[[int], int]
"""The status to answer with, given how many posts came before; it may take its time."""


class Receiver(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.posts: list[Post] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    @property
    def publications(self) -> list[str]:
        with self.lock:
            return [post.publication for post in self.posts]

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of clients that go away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        body = self.rfile.read(size)
        if len(body) < size:  # the sender was killed meanwhile: that is no post
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        post = Post(self.path, headers, body, time.monotonic(), self.client_address[1])
        with self.server.lock:
            before = len(self.server.posts)
            self.server.posts.append(post)
        status = self.server.reply(before)
        try:
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()
        except OSError:
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@contextmanager
def receiving(
    reply: Reply = lambda before: 204, tls: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    receiver = Receiver(reply)
    if tls is not None:
        receiver.socket = tls.wrap_socket(receiver.socket, server_side=True)
    thread = threading.Thread(target=receiver.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.shutdown()
        receiver.server_close()
        thread.join()


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so; fails if that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
