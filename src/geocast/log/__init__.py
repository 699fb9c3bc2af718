"""Logs of publications and matches: partitioned, durable, replayed from any offset kept."""

from geocast.log.base import RECORDS, Log, Position, Record
from geocast.log.opening import LogPlace, kafka_options, matches, publications
from geocast.log.sqlite import SqliteLog

__all__ = [
    "RECORDS",
    "Log",
    "LogPlace",
    "Position",
    "Record",
    "SqliteLog",
    "kafka_options",
    "matches",
    "publications",
]
