"""What Spark has written down about a stream."""

from __future__ import annotations

import json
from pathlib import Path

from geocast.operate import sync

__all__ = ["committed", "make_durable"]


def make_durable(checkpoint: Path, batch: int) -> None:
    """Have the disk keep what Spark has written down about a batch that is about to run.

    Spark does not wait for that. If the machine died, Spark might plan a batch anew with other
    records, although its matches have been written.
    """
    paths = [checkpoint / "offsets" / str(batch), checkpoint / "offsets"]
    if batch == 0:
        paths += [checkpoint / "metadata", checkpoint]
    for path in paths:
        sync(path)


def committed(checkpoint: Path, partitions: int, but: int = 0) -> list[int]:
    """Return how far Spark has got in each partition, by what it has written down.

    `but` leaves out that many of the last batches.
    """
    done = sorted(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))
    reached = [0] * partitions
    if len(done) > but:
        lines = (checkpoint / "offsets" / str(done[-1 - but])).read_text().splitlines()
        for partition, offset in json.loads(lines[-1])["offsets"].items():
            reached[int(partition)] = offset
    return reached
