"""Processes that belong together: one service a directory, and no child outlives its parent."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from geocast.errors import StateError

__all__ = ["die_with_parent", "hold_lock", "is_held", "stop_on_signals"]

_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Have this process killed when its parent ends, however that ends (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def hold_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock for the length of the block; it ends with the process, too.

    Raises StateError where another process holds it; `what` names what is locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise StateError(f"{what} is in use by process {file.read().strip()}") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def is_held(path: Path) -> bool:
    """Tell whether some process holds the lock of that path."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def stop_on_signals() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set instead of ending this process."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop
