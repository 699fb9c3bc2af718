"""CQL2 on one feature: TRUE, FALSE or NULL (True, False, None).

A feature is a mapping with `id`, `geometry` (a shapely geometry) and its properties. What the
standard leaves to the system is decided so: a value of another type than the operation asks
for is NULL, and so is a number that is none (NaN, division by zero); a string is read as an
instant where an instant is asked for; a date beside a time is the whole day; BETWEEN compares
whatever `<=` compares; DIV and % divide toward zero.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

import shapely

from tests.oracle.literals import Interval, geometry_value, read_instant
from tests.oracle.spatial import PREDICATES
from tests.oracle.temporal import temporal
from tests.oracle.text import parse_text
from tests.oracle.values import (
    COMPARISONS,
    TEXT_FUNCTIONS,
    arithmetic,
    compare,
    element_key,
    like,
)

__all__ = ["Feature", "evaluate"]

Feature = Mapping[str, Any]


def evaluate(expression: str | Mapping[str, Any] | bool, feature: Feature) -> bool | None:
    """Evaluate CQL2 text or CQL2 JSON."""
    tree = parse_text(expression) if isinstance(expression, str) else expression
    return _truth(_value(tree, feature))


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _value(tree: Any, feature: Feature) -> Any:
    if isinstance(tree, list):
        return [_value(item, feature) for item in tree]
    if not isinstance(tree, Mapping):
        return tree
    if "op" in tree:
        return _operation(tree["op"].lower(), tree["args"], feature)
    if "property" in tree:
        return _property(tree["property"], feature)
    if "interval" in tree:
        return _interval(tree["interval"], feature)
    if "date" in tree or "timestamp" in tree:
        return read_instant(tree.get("date") or tree["timestamp"])
    return geometry_value(dict(tree))


def _property(name: str, feature: Feature) -> Any:
    value: Any = feature
    if name in feature:
        value = feature[name]
    else:
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dt.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=dt.UTC)
    return value


def _interval(ends: list[Any], feature: Feature) -> Interval | None:
    values = [None if end == ".." else _interval_end(end, feature) for end in ends]
    known = [end == ".." or value is not None for end, value in zip(ends, values, strict=True)]
    return Interval(*values) if all(known) else None


def _interval_end(end: Any, feature: Feature) -> Any:
    value = _value(end, feature)
    if isinstance(value, str):
        return read_instant(value)
    return value if isinstance(value, dt.date) else None


def _operation(op: str, args: list[Any], feature: Feature) -> Any:
    if op in ("and", "or"):
        return _connected(op, [_truth(_value(arg, feature)) for arg in args])
    values = [_value(arg, feature) for arg in args]
    if op == "not":
        truth = _truth(values[0])
        return None if truth is None else not truth
    if op == "isnull":
        return values[0] is None
    if op in COMPARISONS:
        return compare(op, *values)
    if op == "like":
        return like(*values)
    if op == "between":
        return _between(*values)
    if op == "in":
        return _connected("or", [compare("=", values[0], item) for item in values[1]])
    if op in TEXT_FUNCTIONS:
        return TEXT_FUNCTIONS[op](values[0])
    if op.startswith("s_"):
        return _spatial(op[2:], *values)
    if op.startswith("t_"):
        return temporal(op, *values)
    if op.startswith("a_"):
        return _array(op, *values)
    return arithmetic(op, *values)


def _connected(op: str, truths: list[bool | None]) -> bool | None:
    """AND and OR as in the standard's truth table."""
    decisive = op == "or"
    if decisive in truths:
        return decisive
    return None if None in truths else not decisive


def _between(value: Any, low: Any, high: Any) -> bool | None:
    above, below = compare(">=", value, low), compare("<=", value, high)
    return None if above is None or below is None else above and below


def _spatial(name: str, left: Any, right: Any) -> bool | None:
    if not (isinstance(left, shapely.Geometry) and isinstance(right, shapely.Geometry)):
        return None
    return bool(PREDICATES[name](left, right))


def _array(op: str, left: Any, right: Any) -> bool | None:
    if not (isinstance(left, list) and isinstance(right, list)):
        return None
    first, second = {element_key(v) for v in left}, {element_key(v) for v in right}
    if op == "a_equals":
        return first == second
    if op == "a_contains":
        return first >= second
    if op == "a_containedby":
        return first <= second
    return bool(first & second)
