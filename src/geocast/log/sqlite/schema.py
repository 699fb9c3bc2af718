"""The tables of a partition's file.

`state` is a single row: offsets in [start, stop) are kept, `time` is the time of the newest
record ever, `upto` the bytes of all records ever, `dropped` those of them that have expired.
A record's `upto` counts its own bytes and those of all before it, so that both a time and a
number of bytes are found by bisection.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

__all__ = ["create_partition"]

_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS record (
    offset INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS state (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    time INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    dropped INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO state VALUES (0, 0, 0, 0, 0, 0);
CREATE TABLE IF NOT EXISTS written (
    query TEXT NOT NULL,
    batch INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (query, batch, source)
) STRICT, WITHOUT ROWID;
"""

_INDEX = "CREATE INDEX IF NOT EXISTS record_digest ON record (digest);"


def create_partition(path: Path, unique_keys: bool) -> None:
    """Create the file of a partition, or complete one whose creation was cut short."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_TABLES + (_INDEX if unique_keys else "") + "COMMIT;")
