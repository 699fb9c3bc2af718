"""Times as the service keeps them: whole microseconds since 1970 in UTC; RFC 3339 for people."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

__all__ = ["MICROSECONDS", "from_rfc3339", "now", "to_rfc3339"]

MICROSECONDS: Final = 1_000_000
"""How many of them make a second."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def now() -> int:
    """Return the time of this machine's clock."""
    return time.time_ns() // 1000


@lru_cache(maxsize=4096)
def to_rfc3339(microseconds: int) -> str:
    """Return a time as text, such as 2026-11-16T05:23:11.000250Z."""
    seconds, rest = divmod(microseconds, MICROSECONDS)
    return f"{_second(seconds)}.{rest:06d}Z"


@lru_cache(maxsize=1024)
def _second(seconds: int) -> str:
    """Return a time without its fraction; most times asked for lie in the same few seconds."""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def from_rfc3339(text: str) -> int:
    """Return the time that a text says; raises ValueError where it says none, or no zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return (moment - _EPOCH) // _MICROSECOND
