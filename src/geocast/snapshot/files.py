"""Directories of files, and the lock of the one who writes them."""

from __future__ import annotations

import fcntl
import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from geocast.errors import StateError
from geocast.operate import sync

__all__ = ["WriterLock", "size_of", "sync_tree"]

_SYNCED_AT_ONCE: Final = 8


def sync_tree(directory: Path) -> None:
    """Have all that is in a directory on disk, and its own entry.

    Many at a time, because file systems commit together what waits together.
    """
    with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
        list(pool.map(sync, directory.rglob("*")))
    sync(directory)
    sync(directory.parent)


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a directory."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())


class WriterLock:
    """Held by the one writer of a directory; the system frees it when the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: weakref.finalize[Any, Any] | None = None

    @property
    def held(self) -> bool:
        """Whether this is the writer."""
        return self._held is not None

    def acquire(self) -> None:
        """Become the writer. Raises StateError where there is another."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            reason = f"{self._path.parent} is being written by another process"
            raise StateError(reason) from error
        self._held = weakref.finalize(self, os.close, descriptor)

    def release(self) -> None:
        """Let others write; does nothing where this is not the writer."""
        if self._held is not None:
            self._held()
            self._held = None
