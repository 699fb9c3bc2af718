"""A real server on a real socket that breaks as told: in the middle of an event, or altogether."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import orjson

from tests.client.events import sse

__all__ = ["RoughService"]

_CHUNKED = b"transfer-encoding: chunked\r\n"


_STEPS_TO_ACCEPT = 10
"""Turns of the loop in which a connection that was being accepted gets to its handler."""


class RoughService:
    """Serves a stream of notifications to whoever connects.

    `mishaps` are taken by one connection to the stream each: a number cuts it after so many
    bytes of events, "503" answers so, "hang up" closes it without an answer, "end" ends it
    properly after all events. With none left, it stays open and sends a sign of life now and then.
    """

    def __init__(self, count: int, mishaps: list[Any], *, chunked: bool = True) -> None:
        self.waiting = list(range(1, count + 1))
        self.mishaps = mishaps
        self.chunked = chunked
        self.acknowledged: list[int] = []
        self.positions: list[int] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> RoughService:
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self) -> None:
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(5)

    def stop(self) -> None:
        """Break all connections, and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(5)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for _ in range(_STEPS_TO_ACCEPT):
            await asyncio.sleep(0)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports that were aborted close their sockets

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if head[0].startswith("GET /v1/stream"):
                await self._stream(writer, int(headers.get("last-event-id", 0)))
                return
            cursors = orjson.loads(body)["cursors"]
            self.acknowledged += cursors
            self.waiting = [cursor for cursor in self.waiting if cursor not in cursors]
            writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 18\r\n\r\n{"acknowledged":1}')

    async def _stream(self, writer: asyncio.StreamWriter, after: int) -> None:
        self.positions.append(after)
        mishap = self.mishaps.pop(0) if self.mishaps else None
        if mishap == "hang up":
            return
        if mishap == "503":
            writer.write(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after: 0\r\n\r\n")
            await writer.drain()
            return
        kind = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        writer.write(kind + (_CHUNKED if self.chunked else b"connection: close\r\n") + b"\r\n")
        await self._send(writer, after, mishap if isinstance(mishap, int) else None)
        if mishap == "end":
            writer.write(b"0\r\n\r\n" if self.chunked else b"")
        while mishap is None:
            await asyncio.sleep(0.1)
            self._write(writer, b": alive\n\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def _send(self, writer: asyncio.StreamWriter, after: int, length: int | None) -> None:
        text = b"".join(sse(cursor) for cursor in self.waiting if cursor > after)[:length]
        for start in range(0, len(text), 100):
            self._write(writer, text[start : start + 100])
            await writer.drain()

    def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(b"%x\r\n%s\r\n" % (len(data), data) if self.chunked else data)
