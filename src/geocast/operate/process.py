"""Processes that belong together: one service a directory, and no child outlives its parent."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from geocast.errors import StateError

__all__ = ["allow_many_files", "die_with_parent", "hold_lock", "is_held", "stop_on_signals"]

_PR_SET_PDEATHSIG: Final = 1
_ATTEMPTS: Final = 20
_AGAIN_SECONDS: Final = 0.02


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent, of that number, ends in whatever way (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def allow_many_files() -> None:
    """Let this process open as many files and connections as the system ever allows it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def hold_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock for the length of the block; it ends with the process, too.

    Raises StateError where another process holds it; `what` names what is locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        if not _lock_soon(file):
            file.seek(0)
            raise StateError(f"{what} is in use by process {file.read().strip()}")
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _lock_soon(file: IO[str]) -> bool:
    """Lock a file; somebody who only looks (`is_held`) may be in the way for a moment."""
    for _ in range(_ATTEMPTS):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_AGAIN_SECONDS)
        else:
            return True
    return False


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
