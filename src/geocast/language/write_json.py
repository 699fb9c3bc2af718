"""The normal form and its parts as CQL2 JSON."""

from __future__ import annotations

import json
from typing import Any

import shapely

from geocast.errors import FilterSyntaxError
from geocast.language.form import AttributeConstraint, Filter, NormalForm, SpatialConstraint
from geocast.language.read_json import parse_json_text
from geocast.language.relations import ARRAY, TEMPORAL
from geocast.language.times import format_instant
from geocast.language.tree import (
    And,
    Arithmetic,
    Array,
    ArrayRelation,
    Between,
    Boolean,
    Comparison,
    Constant,
    Fold,
    In,
    Instant,
    Interval,
    IsNull,
    Like,
    Node,
    Not,
    Number,
    Or,
    Property,
    Spatial,
    Temporal,
    Text,
)

__all__ = ["constraint_from_json", "constraint_to_json", "to_json"]


def to_json(form: NormalForm) -> dict[str, Any]:
    """Write a normal form as CQL2 JSON, which `normalise` reads back to an equal one."""
    if not form.filters:
        return _operation("=", True, False)
    return _joined("or", [_filter(item) for item in form.filters])


def constraint_to_json(constraint: AttributeConstraint) -> str:
    """Write one attribute constraint as the text of a CQL2 JSON expression."""
    return json.dumps(_attribute(constraint), ensure_ascii=False, separators=(",", ":"))


def constraint_from_json(text: str) -> AttributeConstraint:
    """Read back what `constraint_to_json` wrote; raises LanguageError for anything else."""
    node = parse_json_text(text)
    negated = isinstance(node, Not)
    expression = node.term if isinstance(node, Not) else node
    if isinstance(expression, And | Or | Not | Spatial | Constant):
        raise FilterSyntaxError("not a single attribute constraint", path="$")
    return AttributeConstraint(expression, negated)


def _filter(item: Filter) -> dict[str, Any]:
    terms = [_spatial(constraint) for constraint in item.spatial]
    terms += [_attribute(constraint) for constraint in item.attributes]
    return _joined("and", terms) if terms else _operation("=", True, True)


def _joined(op: str, terms: list[dict[str, Any]]) -> dict[str, Any]:
    return terms[0] if len(terms) == 1 else _operation(op, *terms)


def _operation(op: str, *arguments: Any) -> dict[str, Any]:
    return {"op": op, "args": list(arguments)}


def _negated(value: dict[str, Any], negated: bool) -> dict[str, Any]:
    return _operation("not", value) if negated else value


def _spatial(constraint: SpatialConstraint) -> dict[str, Any]:
    shape = json.loads(shapely.to_geojson(shapely.from_wkb(constraint.geometry)))
    name = f"s_{constraint.predicate.label}"
    return _negated(_operation(name, {"property": "geometry"}, shape), constraint.negated)


def _attribute(constraint: AttributeConstraint) -> dict[str, Any]:
    value: dict[str, Any] = _value(constraint.expression)
    return _negated(value, constraint.negated)


def _value(node: Node) -> Any:
    match node:
        case Property(name):
            return {"property": name}
        case Number(value) | Text(value) | Boolean(value):
            return value
        case Instant(_, day):
            return {"date" if day else "timestamp": format_instant(node)}
        case Interval(start, end):
            return {"interval": [_bound(start), _bound(end)]}
        case Array(items):
            return [_value(item) for item in items]
        case Fold(fold, operand):
            return _operation(fold.value, _value(operand))
        case Arithmetic(op, left, right) | Comparison(op, left, right):
            return _operation(op, _value(left), _value(right))
    return _predicate(node)


def _predicate(node: Node) -> dict[str, Any]:
    match node:
        case Between(value, low, high):
            return _operation("between", _value(value), _value(low), _value(high))
        case In(value, items):
            return _operation("in", _value(value), [_value(item) for item in items])
        case Like(value, pattern):
            return _operation("like", _value(value), pattern)
        case IsNull(operand):
            return _operation("isNull", _value(operand))
        case Temporal(name, left, right):
            return _operation(TEMPORAL[name][0], _value(left), _value(right))
        case ArrayRelation(name, left, right):
            return _operation(ARRAY[name], _value(left), _value(right))
    raise TypeError(f"a {type(node).__name__} has no place in a constraint")


def _bound(bound: Instant | Property | None) -> Any:
    if isinstance(bound, Property):
        return {"property": bound.name}
    return ".." if bound is None else format_instant(bound)
