"""The normal form and its parts as CQL2 text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import shapely.geometry

from geocast.language.form import AttributeConstraint, Filter, NormalForm, SpatialConstraint
from geocast.language.times import format_instant
from geocast.language.tokens import KEYWORDS, NAME
from geocast.language.tree import (
    Arithmetic,
    Array,
    ArrayRelation,
    Between,
    Boolean,
    Comparison,
    Expression,
    Fold,
    In,
    Instant,
    Interval,
    IsNull,
    Like,
    Node,
    Number,
    Property,
    Temporal,
    Text,
)

__all__ = ["to_text"]


def to_text(form: NormalForm) -> str:
    """Write a normal form as CQL2 text, which `normalise` reads back to an equal one."""
    if not form.filters:
        return "FALSE"
    parts = [_filter(item) for item in form.filters]
    return parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts)


def _filter(item: Filter) -> str:
    terms = [_spatial(constraint) for constraint in item.spatial]
    terms += [_attribute(constraint) for constraint in item.attributes]
    return " AND ".join(terms) or "TRUE"


def _spatial(constraint: SpatialConstraint) -> str:
    text = f"S_{constraint.predicate.name}(geometry, {_wkt(constraint.geometry)})"
    return f"NOT {text}" if constraint.negated else text


def _wkt(wkb: bytes) -> str:
    """Return WKT with every digit of the coordinates; GEOS writes at most 16 decimals."""
    parts = shapely.geometry.mapping(shapely.from_wkb(wkb))
    text = _coordinates(parts["coordinates"])
    return f"{parts['type'].upper()} {text if text.startswith('(') else f'({text})'}"


def _coordinates(nested: Sequence[Any]) -> str:
    if isinstance(nested[0], float):
        return " ".join(repr(value).removesuffix(".0") for value in nested)
    return f"({', '.join(_coordinates(item) for item in nested)})"


def _attribute(constraint: AttributeConstraint) -> str:
    text = _expression(constraint.expression)
    return f"NOT ({text})" if constraint.negated else text


def _expression(node: Expression) -> str:
    match node:
        case Comparison(op, left, right):
            return f"{_scalar(left)} {op} {_scalar(right)}"
        case Between(value, low, high):
            return f"{_scalar(value)} BETWEEN {_scalar(low)} AND {_scalar(high)}"
        case In(value, items):
            return f"{_scalar(value)} IN {_items(items)}"
        case Like(value, pattern):
            return f"{_scalar(value)} LIKE {_string(pattern)}"
        case IsNull(operand):
            return f"{_null_operand(operand)} IS NULL"
        case Temporal(name, left, right) | ArrayRelation(name, left, right):
            return f"{name.upper()}({_scalar(left)}, {_scalar(right)})"


def _null_operand(node: Node) -> str:
    if isinstance(node, Comparison | Between | In | Like | Temporal | ArrayRelation):
        return f"({_expression(node)})"
    return _scalar(node)


def _scalar(node: Node) -> str:
    match node:
        case Property(name):
            return _name(name)
        case Number(value):
            return repr(value)
        case Text(value):
            return _string(value)
        case Boolean(value):
            return "TRUE" if value else "FALSE"
        case Instant(_, day):
            return f"{'DATE' if day else 'TIMESTAMP'}({_bound(node)})"
        case Interval(start, end):
            return f"INTERVAL({_bound(start)}, {_bound(end)})"
        case Array(items):
            return _items(items)
        case Fold(fold, operand):
            return f"{fold.name}({_scalar(operand)})"
        case Arithmetic(op, left, right):
            return f"({_scalar(left)} {op} {_scalar(right)})"
    raise TypeError(f"a {type(node).__name__} has no place in a constraint")


def _bound(bound: Instant | Property | None) -> str:
    if isinstance(bound, Property):
        return _name(bound.name)
    return "'..'" if bound is None else f"'{format_instant(bound)}'"


def _items(items: tuple[Node, ...]) -> str:
    return f"({', '.join(_scalar(item) for item in items)})"


def _string(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _name(name: str) -> str:
    if NAME.fullmatch(name) and name.upper() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'
