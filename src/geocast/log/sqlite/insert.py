"""Records into a partition, inside one transaction: offsets and times are given out here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import accumulate
from operator import add

from geocast.log.base import Position
from geocast.log.sqlite.view import State

__all__ = ["Entry", "insert", "known_positions"]

Entry = tuple[int, str, bytes]
"""The digest of a key, the key, the value."""


def insert(
    connection: sqlite3.Connection, state: State, entries: Sequence[Entry], clock: int
) -> range:
    """Insert all entries behind what there is; return their times.

    The times begin at the clock's, or right after that of the newest record.
    """
    first = max(clock, state.time + 1)
    times = range(first, first + len(entries))
    if not entries:
        return times
    digests, keys, values = zip(*entries, strict=True)
    offsets = range(state.stop, state.stop + len(entries))
    sizes = map(add, map(len, map(str.encode, keys)), map(len, values))
    ends = list(accumulate(sizes, initial=state.upto))
    rows = zip(offsets, times, ends[1:], digests, keys, values, strict=True)
    connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", rows)
    update = "UPDATE state SET stop = ?, time = ?, upto = ?"
    connection.execute(update, (offsets.stop, times[-1], ends[-1]))
    return times


def known_positions(
    connection: sqlite3.Connection, partition: int, entries: Sequence[Entry]
) -> dict[str, Position]:
    """Return, by key, where the earliest record stands that is there already."""
    wanted = json.dumps([digest for digest, _, _ in entries])
    query = (
        "SELECT key, offset, time FROM record "
        "WHERE digest IN (SELECT value FROM json_each(?)) ORDER BY offset DESC"
    )
    found = connection.execute(query, (wanted,))
    return {key: Position(partition, offset, time, False) for key, offset, time in found}
