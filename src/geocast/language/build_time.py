"""Checked construction of dates, times, intervals, arrays and their relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from geocast.errors import FilterSyntaxError, FilterTypeError
from geocast.language import fold
from geocast.language.build import located
from geocast.language.kinds import LITERALS, SCALAR_KINDS, Kind, kind_of
from geocast.language.times import parse_date, parse_instant, parse_timestamp
from geocast.language.tree import (
    Array,
    ArrayRelation,
    Condition,
    Constant,
    Instant,
    Interval,
    Property,
    Scalar,
    Temporal,
    Text,
)
from geocast.language.where import Located, Where, refuse

__all__ = ["array", "array_relation", "date", "interval", "temporal", "timestamp"]


def date(part: Located, where: Where) -> Located:
    """Build DATE of a string literal."""
    return Located(_instant(part, parse_date), where)


def timestamp(part: Located, where: Where) -> Located:
    """Build TIMESTAMP of a string literal."""
    return Located(_instant(part, parse_timestamp), where)


def interval(start: Located, end: Located, where: Where) -> Located:
    """Build INTERVAL of two bounds: strings, instants, properties, or ".." for an open end."""
    first, last = _bound(start), _bound(end)
    if not fold.bounds_in_order(first, last):
        refuse(FilterTypeError, "the interval ends before it starts", where)
    return located(Interval(first, last), where, start, end)


def temporal(name: str, left: Located, right: Located) -> Located:
    """Build a temporal relation, by its lower-case name."""
    first, second = (_temporal_operand(part, name) for part in (left, right))
    known = fold.temporal(name, first, second)
    node: Condition = Temporal(name, first, second) if known is None else Constant(known)
    return located(node, left.where, left, right)


def array(items: Sequence[Located], where: Where) -> Located:
    """Build an array of scalars, which may differ in type."""
    for item in items:
        kind = kind_of(item.node)
        if kind not in SCALAR_KINDS:
            refuse(FilterTypeError, f"{kind.value} cannot be an element of an array", item.where)
    return located(Array(tuple(cast(Scalar, item.node) for item in items)), where, *items)


def array_relation(name: str, left: Located, right: Located) -> Located:
    """Build an array relation, by its lower-case name."""
    first, second = (_array_operand(part, name) for part in (left, right))
    node: Condition = ArrayRelation(name, first, second)
    if _constant(first) and _constant(second):
        items = (cast(Array, side).items for side in (first, second))
        node = Constant(fold.array_relation(name, *items))
    return located(node, left.where, left, right)


def _instant(part: Located, parse: Callable[[str], Instant]) -> Instant:
    if not isinstance(part.node, Text):
        refuse(FilterTypeError, "a date or time is made of a string literal", part.where)
    try:
        return parse(part.node.value)
    except ValueError as problem:
        refuse(FilterSyntaxError, str(problem), part.where)


def _bound(part: Located) -> Instant | Property | None:
    node = part.node
    if isinstance(node, Text):
        return None if node.value == ".." else _instant(part, parse_instant)
    if isinstance(node, Instant) or (isinstance(node, Property) and kind_of(node) is Kind.ANY):
        return node
    reason = f"{kind_of(node).value} cannot bound an interval"
    return refuse(FilterTypeError, reason, part.where)


def _temporal_operand(part: Located, name: str) -> Scalar:
    kind = kind_of(part.node)
    if kind not in (Kind.ANY, Kind.INSTANT, Kind.INTERVAL):
        reason = f"{name.upper()} needs dates, times or intervals, not {kind.value}"
        refuse(FilterTypeError, reason, part.where)
    return cast(Scalar, part.node)


def _array_operand(part: Located, name: str) -> Scalar:
    if part.grouped and not isinstance(part.node, Array):
        return cast(Scalar, array([part], part.where).node)
    kind = kind_of(part.node)
    if kind not in (Kind.ANY, Kind.ARRAY):
        refuse(FilterTypeError, f"{name.upper()} needs arrays, not {kind.value}", part.where)
    return cast(Scalar, part.node)


def _constant(node: Scalar) -> bool:
    return isinstance(node, Array) and all(isinstance(item, LITERALS) for item in node.items)
