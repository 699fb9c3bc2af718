"""Arguments that make no sense to any log: each an InputError that says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from geocast.errors import InputError

__all__ = ["check_count", "check_keep", "check_partition", "check_partitions"]

_MOST: Final = 1024


def check_partitions(partitions: int) -> None:
    """A log has a bounded number of partitions."""
    if not 1 <= partitions <= _MOST:
        raise InputError(f"a log has 1 to {_MOST} partitions, not {partitions}")


def check_partition(log: object, partition: int, partitions: int) -> None:
    """A partition is one of those that the log of this name has."""
    if not 0 <= partition < partitions:
        raise InputError(f"{log}: there is no partition {partition} among {partitions}")


def check_count(max_records: int) -> None:
    """Whoever reads takes one record at least."""
    if max_records < 1:
        raise InputError(f"max_records must be at least 1, not {max_records}")


def check_keep(keep: Sequence[int] | None, partitions: int) -> None:
    """What is to be kept is said for every partition, or for none."""
    if keep is not None and len(keep) != partitions:
        raise InputError(f"keep has {len(keep)} offsets for {partitions} partitions")
