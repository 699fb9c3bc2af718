"""Many writers, one transaction: what waits while the log writes is written together next."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final

from geocast.errors import StateError
from geocast.log import Log, Position

__all__ = ["Appender"]

_MOST_TOGETHER: Final = 10_000

_Records = Sequence[tuple[str, bytes]]
_Waiting = tuple[_Records, "Future[list[Position]]"]


class Appender:
    """Appends to a log in a thread of its own, which starts with the first records."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    async def append(self, records: _Records) -> list[Position]:
        """Return where the records stand, once they are durable."""
        future: Future[list[Position]] = Future()
        with self._lock:
            if self._closed:
                raise StateError("the gateway is closing; nothing more is written")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="appender", daemon=True)
                self._thread.start()
            self._waiting.put((records, future))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Write what waits, and stop."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._waiting.put(None)
            thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            group: list[_Waiting] = []
            open_ = self._collect(group)
            if group:
                self._append(group)

    def _collect(self, group: list[_Waiting]) -> bool:
        """Wait for records, and take along what else waits; False when that was the last."""
        count = 0
        item = self._waiting.get()
        while item is not None:
            group.append(item)
            count += len(item[0])
            if count >= _MOST_TOGETHER or self._waiting.empty():
                return True
            item = self._waiting.get()
        return False

    def _append(self, group: list[_Waiting]) -> None:
        going = [item for item in group if item[1].set_running_or_notify_cancel()]
        try:
            positions = self._log.append([record for records, _ in going for record in records])
        except BaseException as error:
            for _, future in going:
                future.set_exception(error)
            return
        start = 0
        for records, future in going:
            future.set_result(positions[start : start + len(records)])
            start += len(records)
