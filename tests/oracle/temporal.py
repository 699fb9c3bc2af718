"""The fifteen temporal functions, from their definitions in the Time Ontology in OWL.

An instant is an interval whose ends are equal. An open end lies before or after everything.
Beside a time, a date is the whole day. An interval that ends before it starts is NULL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from tests.oracle.literals import Instant, Interval, read_instant

__all__ = ["interval_of", "temporal"]

_End = tuple[int, Any]
_Span = tuple[_End, _End]
_INTERVALS_ONLY = frozenset(
    [
        "t_contains",
        "t_during",
        "t_finishedby",
        "t_finishes",
        "t_meets",
        "t_metby",
        "t_overlappedby",
        "t_overlaps",
        "t_startedby",
        "t_starts",
    ]
)


def temporal(name: str, left: Any, right: Any) -> bool | None:
    """Evaluate a temporal function on instants, intervals or strings that are instants."""
    if name in _INTERVALS_ONLY and not (isinstance(left, Interval) and isinstance(right, Interval)):
        return None
    first, second = interval_of(left), interval_of(right)
    if first is None or second is None:
        return None
    mixed = len(_kinds(first) | _kinds(second)) > 1
    spans = [_span(_in_time(interval) if mixed else interval) for interval in (first, second)]
    if any(_less(end, start) for start, end in spans):
        return None
    return _FUNCTIONS[name](*spans)


def interval_of(value: Any) -> Interval | None:
    if isinstance(value, str):
        value = read_instant(value)
    if isinstance(value, Interval):
        return value
    return Interval(value, value) if isinstance(value, dt.date) else None


def _kinds(interval: Interval) -> set[bool]:
    ends = (interval.start, interval.end)
    return {isinstance(end, dt.datetime) for end in ends if end is not None}


def _in_time(interval: Interval) -> Interval:
    return Interval(_moment(interval.start, dt.time.min), _moment(interval.end, dt.time.max))


def _moment(end: Instant | None, of_day: dt.time) -> Instant | None:
    if end is None or isinstance(end, dt.datetime):
        return end
    return dt.datetime.combine(end, of_day, dt.UTC)


def _span(interval: Interval) -> _Span:
    start = (-1, None) if interval.start is None else (0, interval.start)
    end = (1, None) if interval.end is None else (0, interval.end)
    return start, end


def _before(a: _Span, b: _Span) -> bool:
    return _less(a[1], b[0])


def _less(a: _End, b: _End) -> bool:
    return a[0] < b[0] if a[0] or b[0] else a[1] < b[1]


def _same(a: _End, b: _End) -> bool:
    return a == b


def _overlaps(a: _Span, b: _Span) -> bool:
    return _less(a[0], b[0]) and _less(b[0], a[1]) and _less(a[1], b[1])


def _during(a: _Span, b: _Span) -> bool:
    return _less(b[0], a[0]) and _less(a[1], b[1])


def _starts(a: _Span, b: _Span) -> bool:
    return _same(a[0], b[0]) and _less(a[1], b[1])


def _finishes(a: _Span, b: _Span) -> bool:
    return _same(a[1], b[1]) and _less(b[0], a[0])


_FUNCTIONS: dict[str, Callable[[_Span, _Span], bool]] = {
    "t_before": _before,
    "t_after": lambda a, b: _before(b, a),
    "t_disjoint": lambda a, b: _before(a, b) or _before(b, a),
    "t_intersects": lambda a, b: not (_before(a, b) or _before(b, a)),
    "t_equals": lambda a, b: _same(a[0], b[0]) and _same(a[1], b[1]),
    "t_meets": lambda a, b: _same(a[1], b[0]),
    "t_metby": lambda a, b: _same(b[1], a[0]),
    "t_overlaps": _overlaps,
    "t_overlappedby": lambda a, b: _overlaps(b, a),
    "t_during": _during,
    "t_contains": lambda a, b: _during(b, a),
    "t_starts": _starts,
    "t_startedby": lambda a, b: _starts(b, a),
    "t_finishes": _finishes,
    "t_finishedby": lambda a, b: _finishes(b, a),
}
