"""Clearing away: versions that nobody needs, what only they name, and leftovers of crashes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from geocast.operate import TEMPORARY, sync
from geocast.snapshot.layout import Layout, Version

__all__ = ["LEFTOVER_SECONDS", "remove_unneeded"]

LEFTOVER_SECONDS: Final = 3600.0
"""A part that no version named may be on its way into one; after this time it is a leftover."""


def remove_unneeded(layout: Layout, needed: set[int]) -> list[int]:
    """Delete versions that are neither needed nor the latest, and files that none names.

    Versions go first, so that a crash in between leaves no version without its files.
    """
    numbers = layout.numbers()
    kept = [layout.read(number) for number in numbers if number in needed or number == numbers[-1]]
    dropped = sorted(set(numbers) - {version.version for version in kept})
    freed = _names(layout.read(number) for number in dropped)
    for number in dropped:
        layout.path_of(number).unlink()
    if dropped:
        sync(layout.versions)
    named = _names(kept)
    _remove_parts(layout, named, freed)
    _remove_files(layout, {version.tombstones for version in kept})
    return dropped


def _names(versions: Iterable[Version]) -> set[str]:
    return {name for version in versions for name in version.parts}


def _remove_parts(layout: Layout, named: set[str], freed: set[str]) -> None:
    for path in layout.parts.iterdir():
        if path.name not in named and (path.name in freed or _is_old(path)):
            shutil.rmtree(path)


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > LEFTOVER_SECONDS


def _remove_files(layout: Layout, named: set[str | None]) -> None:
    """Delete lists that no version names, and what was being written when a process died.

    Only the writer of the directory writes these, and it is busy here.
    """
    unnamed = [path for path in layout.tombstones.iterdir() if path.name not in named]
    for path in (*unnamed, *layout.versions.glob(f"*{TEMPORARY}")):
        path.unlink()
