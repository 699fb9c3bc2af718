"""Records to append, and ways to look at those in a log."""

from __future__ import annotations

import pyarrow as pa

from geocast.log import Log, Record

__all__ = ["everything", "many", "offsets", "pairs"]


def pairs(*names: str) -> list[tuple[str, bytes]]:
    return [(name, f"value of {name}".encode()) for name in names]


def many(number: int) -> list[tuple[str, bytes]]:
    return pairs(*(f"key {i}" for i in range(number)))


def everything(log: Log) -> list[list[Record]]:
    return [
        [Record(**row) for row in log.read(partition, 0, max_records=1_000_000).to_pylist()]
        for partition in range(log.partitions)
    ]


def offsets(batch: pa.RecordBatch) -> list[int]:
    return [int(offset) for offset in batch["offset"].to_pylist()]
