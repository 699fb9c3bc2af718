"""Files that survive a loss of power."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["TEMPORARY", "sync", "write_durably"]

TEMPORARY: Final = ".tmp"
"""The suffix of files that are being written."""


def write_durably(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; it survives a loss of power once this returns."""
    temporary = path.with_name(path.name + TEMPORARY)
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Have a file, or the entries of a directory, on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
