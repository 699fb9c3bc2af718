"""What Spark has written down about a stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from geocast.errors import StateError
from geocast.operate import sync

__all__ = ["committed", "make_durable", "planned"]


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
        reached = _ends(checkpoint, done[-1 - but])
    return reached


def planned(
    checkpoint: Path, batch: int, starts: Sequence[int], log: str
) -> list[tuple[int, int, int]]:
    """Return what a batch has of the log: partition, and offsets [start, stop), as Spark has it.

    `starts` is where the first batch begins, `log` the name of the log that is read now. Raises
    StateError where Spark's notes are torn, not there, or of another log.
    """
    try:
        begins = _ends(checkpoint, batch - 1, log) if batch else starts
        spans = zip(begins, _ends(checkpoint, batch, log), strict=True)
        return [(number, *span) for number, span in enumerate(spans) if span[0] < span[1]]
    except (OSError, ValueError, LookupError) as error:
        raise StateError(f"{checkpoint}: what batch {batch} has is not told: {error}") from error


def _ends(checkpoint: Path, batch: int, log: str | None = None) -> list[int]:
    """Return where a batch ends in each partition."""
    lines = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    note = json.loads(lines[-1])
    if log is not None and note["log"] != log:
        raise ValueError(f"it is of the log {note['log']}, not {log}")
    return [note["offsets"][str(partition)] for partition in range(len(note["offsets"]))]
