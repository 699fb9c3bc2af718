"""Logs of publications and matches: partitioned, durable, replayed from any offset kept."""

from geocast.log.base import RECORDS, Log, Position, Record
from geocast.log.sqlite import SqliteLog

__all__ = ["RECORDS", "Log", "Position", "Record", "SqliteLog"]
