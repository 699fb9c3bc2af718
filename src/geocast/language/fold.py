"""Values of expressions that have no property in them, so that they need not be asked again.

The rules are those by which `geocast.match.content` evaluates columns. None is NULL.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence

from geocast.language.relations import TEMPORAL, Bounds
from geocast.language.times import DAY_MICROS
from geocast.language.tree import Boolean, Instant, Interval, Number, Property, Scalar, Text

__all__ = [
    "HOLDS",
    "arithmetic",
    "array_relation",
    "bounds_in_order",
    "compare",
    "finite_number",
    "temporal",
]

HOLDS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_EXACT_FLOAT = 2**53


def finite_number(value: int | float) -> int | float | None:
    """Return whole numbers as int where a float holds them exactly; None beyond all floats."""
    if isinstance(value, int):
        return value if abs(value) <= sys.float_info.max else None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) <= _EXACT_FLOAT else value


def compare(op: str, left: Scalar, right: Scalar) -> bool | None:
    """Compare two literals of one type; None if they are of different types."""
    match left, right:
        case (Number(a), Number(b)) | (Boolean(a), Boolean(b)):
            return HOLDS[op](a, b)
        case Text(a), Text(b):
            return HOLDS[op]((a > b) - (a < b), 0)
        case Instant(), Instant():
            whole_days = left.day or right.day
            a, b = ((i.micros // DAY_MICROS if whole_days else i.micros) for i in (left, right))
            return HOLDS[op](a, b)
    return None


def arithmetic(op: str, left: int | float, right: int | float) -> int | float | None:
    """Compute with two numbers; None where there is no finite result, as by division by zero."""
    try:
        return finite_number(_ARITHMETIC[op](left, right))
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


def _quotient(left: int | float, right: int | float) -> int:
    if isinstance(left, int) and isinstance(right, int):
        magnitude = abs(left) // abs(right)
        return magnitude if (left < 0) == (right < 0) else -magnitude
    return math.trunc(left / right)


def _remainder(left: int | float, right: int | float) -> int | float:
    if isinstance(left, int) and isinstance(right, int):
        return left - right * _quotient(left, right)
    return math.fmod(left, right)


def _power(left: int | float, right: int | float) -> float:
    return math.pow(left, right)


_ARITHMETIC: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": _remainder,
    "div": _quotient,
    "^": _power,
}


def temporal(name: str, left: Scalar, right: Scalar) -> bool | None:
    """Decide a temporal relation of two literals; None if one has a property in it."""
    first, second = _bounds(left), _bounds(right)
    if first is None or second is None:
        return None
    _, alternatives = TEMPORAL[name]
    days = _only_days(*first.values(), *second.values())
    return any(all(_bound_holds(first, second, c, days) for c in terms) for terms in alternatives)


def bounds_in_order(start: Instant | Property | None, end: Instant | Property | None) -> bool:
    """Say whether an interval, as far as it is known, does not end before it starts."""
    if isinstance(start, Property) or isinstance(end, Property):
        return True
    order: Bounds = ("start", "<=", "end")
    return _bound_holds({"start": start}, {"end": end}, order, _only_days(start, end))


_Bounds = dict[str, Instant | None]


def _bounds(operand: Scalar) -> _Bounds | None:
    if isinstance(operand, Instant):
        return {"start": operand, "end": operand}
    if isinstance(operand, Interval):
        start, end = operand.start, operand.end
        if not (isinstance(start, Property) or isinstance(end, Property)):
            return {"start": start, "end": end}
    return None


def _only_days(*bounds: Instant | None) -> bool:
    return all(bound is None or bound.day for bound in bounds)


def _bound_holds(first: _Bounds, second: _Bounds, comparison: Bounds, only_days: bool) -> bool:
    role, op, other_role = comparison
    left, right = first[role], second[other_role]
    return HOLDS[op](_moment(left, role, only_days), _moment(right, other_role, only_days))


def _moment(bound: Instant | None, role: str, only_days: bool) -> float:
    """Place a bound on the axis; beside a time, a day ends with its last microsecond."""
    if bound is None:
        return -math.inf if role == "start" else math.inf
    ends_late = bound.day and role == "end" and not only_days
    return bound.micros + (DAY_MICROS - 1 if ends_late else 0)


def array_relation(name: str, left: Sequence[Scalar], right: Sequence[Scalar]) -> bool:
    """Decide a relation of two arrays of literals, read as sets."""
    first, second = frozenset(left), frozenset(right)
    if name == "a_equals":
        return first == second
    if name == "a_contains":
        return first >= second
    return first <= second if name == "a_containedby" else bool(first & second)
