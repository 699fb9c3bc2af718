"""The logs that the contract is tested on: one line each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from geocast.log import Log, SqliteLog

__all__ = ["IMPLEMENTATIONS", "Open"]


class Open(Protocol):
    """Opens or makes the log at a place; module-level, so that other processes can, too."""

    def __call__(
        self,
        place: Path,
        /,
        partitions: int = 2,
        unique_keys: bool = True,
        *,
        clock: Callable[[], int] = ...,
    ) -> Log: ...


IMPLEMENTATIONS: dict[str, Open] = {"sqlite": SqliteLog.open}
