"""The embedded log: one SQLite file a partition, no server."""

from geocast.log.sqlite.log import SqliteLog

__all__ = ["SqliteLog"]
