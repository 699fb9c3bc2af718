"""The logs that the contract is tested on: one line each."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from geocast.log import Log, SqliteLog
from geocast.log.kafka import KafkaLog, KafkaOptions
from geocast.model import now
from tests.kafka.broker import servers

__all__ = ["EMBEDDED", "IMPLEMENTATIONS", "Open"]


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


def open_kafka(
    place: Path,
    partitions: int = 2,
    unique_keys: bool = True,
    *,
    clock: Callable[[], int] = now,
) -> KafkaLog:
    """A topic for each place; times are the broker's."""
    name = blake2b(str(place).encode(), digest_size=8).hexdigest()
    options = KafkaOptions.of(f"kafka://{servers()}/test")
    return KafkaLog.open(options, name, partitions, keys=place / "keys" if unique_keys else None)


IMPLEMENTATIONS: dict[str, Open] = {"kafka": open_kafka, "sqlite": SqliteLog.open}

EMBEDDED = ("sqlite",)
"""Those that have a clock of their own, leave no gaps, and bound their size."""
