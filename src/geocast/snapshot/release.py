"""Letting go of mapped files without keeping anybody waiting.

A file that was deleted is freed when the last process lets go of it, and that process waits for
the disk. A part is let go of when a newer version is opened, just where nobody wants to wait: so a
thread of its own does it.
"""

from __future__ import annotations

import threading
import weakref
from queue import SimpleQueue
from typing import Any

__all__ = ["release_with"]

_lock = threading.Lock()
_released: SimpleQueue[list[Any]] = SimpleQueue()
_thread: threading.Thread | None = None


def release_with(owner: object, held: list[Any]) -> None:
    """Empty a list in another thread once its owner is gone.

    What is in the list should be held by nothing else, else whoever holds it lets go of it.
    """
    _start()
    weakref.finalize(owner, _release, held).atexit = False


def _release(held: list[Any]) -> None:
    _released.put(held)


def _start() -> None:
    """Start the thread, also in a process that was forked, where it does not run."""
    global _thread, _released
    with _lock:
        if _thread is None or not _thread.is_alive():
            _released = SimpleQueue()
            _thread = threading.Thread(
                target=_empty_all, args=(_released,), name="geocast-release", daemon=True
            )
            _thread.start()


def _empty_all(released: SimpleQueue[list[Any]]) -> None:
    while True:
        released.get().clear()
