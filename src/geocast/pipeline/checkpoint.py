"""What Spark has written down about a stream."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["committed"]


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
