"""Dates and times as RFC 3339 writes them, to and from microseconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from geocast.language.tree import Instant

__all__ = ["DAY_MICROS", "format_instant", "parse_date", "parse_instant", "parse_timestamp"]

DAY_MICROS = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)


def parse_date(text: str) -> Instant:
    """Read a full date such as 2015-08-31; raises ValueError."""
    try:
        day = date.fromisoformat(text if _DATE.fullmatch(text) else "")
    except ValueError:
        raise ValueError(f"{text!r} is not a date such as '2015-08-31'") from None
    return Instant((day.toordinal() - _EPOCH.toordinal()) * DAY_MICROS, True)


def parse_timestamp(text: str) -> Instant:
    """Read a date and time such as 2015-08-31T12:00:00Z; raises ValueError.

    Without an offset it is UTC. Digits beyond the microsecond are cut off.
    """
    try:
        moment = datetime.fromisoformat(text.upper() if _TIMESTAMP.fullmatch(text) else "")
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a time such as '2015-08-31T12:00:00Z'") from None
    return Instant((moment - _EPOCH) // _MICROSECOND, False)


def parse_instant(text: str) -> Instant:
    """Read either a date or a date and time; raises ValueError."""
    return parse_date(text) if len(text) == 10 else parse_timestamp(text)


def format_instant(instant: Instant) -> str:
    """Write an instant so that `parse_instant` reads it back."""
    moment = _EPOCH + timedelta(microseconds=instant.micros)
    if instant.day:
        return moment.date().isoformat()
    return moment.replace(tzinfo=None).isoformat() + "Z"
