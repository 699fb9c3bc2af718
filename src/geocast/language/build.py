"""Checked construction of the tree, shared by the readers of text and of JSON.

Every function takes located operands, refuses what cannot be combined at the place of the
operand that does not fit, and folds what is constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from geocast.errors import FilterLimitError, FilterSyntaxError, FilterTypeError
from geocast.language import fold, geometry
from geocast.language.kinds import GEOMETRY_NAME, LITERALS, SCALAR_KINDS, Kind, kind_of
from geocast.language.relations import FLIPPED
from geocast.language.strings import FOLDS, like_pattern
from geocast.language.tree import (
    And,
    Arithmetic,
    Between,
    Boolean,
    Comparison,
    Condition,
    Constant,
    Fold,
    FoldName,
    In,
    IsNull,
    Like,
    Node,
    Not,
    Number,
    Or,
    Property,
    Scalar,
    Shape,
    Spatial,
    Text,
)
from geocast.language.where import MAX_DEPTH, Located, Where, refuse, refuse_depth
from geocast.model import Predicate

__all__ = [
    "MAX_PATTERN",
    "arithmetic",
    "between",
    "comparison",
    "condition",
    "conjunction",
    "disjunction",
    "is_null",
    "like",
    "located",
    "membership",
    "named",
    "negation",
    "negative",
    "number",
    "positive",
    "spatial",
    "string_fold",
    "text",
]

MAX_PATTERN = 10_000
"""How long a LIKE pattern may be, well within what regular expressions can be compiled from."""

_ADVICE = {
    Kind.INTERVAL: "; use the T_ functions",
    Kind.ARRAY: "; use the A_ functions",
    Kind.GEOMETRY: "; use the S_ functions",
}
_SELF_TRUE = frozenset(
    {
        Predicate.EQUALS,
        Predicate.INTERSECTS,
        Predicate.WITHIN,
        Predicate.CONTAINS,
        Predicate.COVERS,
        Predicate.COVEREDBY,
    }
)


def located(node: Node, where: Where, *parts: Located, levels: int = 1) -> Located:
    """Place a node made of parts; refuses to grow deeper than MAX_DEPTH.

    Predicates, which cannot contain each other, are not a level of their own.
    """
    depth = levels + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        refuse_depth(where)
    return Located(node, where, depth)


def number(value: int | float, where: Where) -> Located:
    """Build a number literal."""
    finite = fold.finite_number(value)
    if finite is None:
        refuse(FilterTypeError, "the number is not finite", where)
    return Located(Number(finite), where)


def text(value: str, where: Where) -> Located:
    """Build a string literal."""
    return Located(Text(_unicode(value, where)), where)


def named(name: str, where: Where) -> Located:
    """Build a reference to a property."""
    return Located(Property(_unicode(name, where)), where)


def _unicode(value: str, where: Where) -> str:
    """Refuse what no column can hold: JSON can write half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        refuse(FilterTypeError, "the string is not valid Unicode", where)
    return value


def condition(part: Located) -> Condition:
    """Return what can be true or false: a condition, a boolean, or a boolean property."""
    node = part.node
    kind = kind_of(node)
    if isinstance(node, Boolean):
        return Constant(node.value)
    if kind is Kind.ANY:
        return Comparison("=", cast(Scalar, node), Boolean(True))
    if kind is not Kind.CONDITION:
        refuse(FilterTypeError, f"{kind.value} stands where a condition is needed", part.where)
    return cast(Condition, node)


def conjunction(parts: Sequence[Located]) -> Located:
    """Join conditions by AND."""
    return located(And(tuple(condition(p) for p in parts)), parts[0].where, *parts)


def disjunction(parts: Sequence[Located]) -> Located:
    """Join conditions by OR."""
    return located(Or(tuple(condition(p) for p in parts)), parts[0].where, *parts)


def negation(part: Located, where: Where) -> Located:
    """Build NOT."""
    return located(Not(condition(part)), where, part)


def comparison(op: str, left: Located, right: Located) -> Located:
    """Build a comparison; literals come second, and `<>` becomes a negated `=`."""
    values = [_scalar(left, op), _scalar(right, op)]
    _same_kind([left, right], "compare")
    negated = op == "<>"
    op = "=" if negated else op
    node: Condition
    if all(isinstance(value, LITERALS) for value in values):
        node = Constant(fold.compare(op, *values))
    elif isinstance(values[0], LITERALS):
        node = Comparison(FLIPPED[op], values[1], values[0])
    else:
        node = Comparison(op, *values)
    return located(Not(node) if negated else node, left.where, left, right, levels=0)


def between(value: Located, low: Located, high: Located) -> Located:
    """Build BETWEEN."""
    parts = (value, low, high)
    values = [_scalar(part, "BETWEEN") for part in parts]
    _same_kind(parts, "compare")
    node: Condition = Between(*values)
    if all(isinstance(v, LITERALS) for v in values):
        ends = (fold.compare(">=", values[0], values[1]), fold.compare("<=", values[0], values[2]))
        node = Constant(all(ends))
    return located(node, value.where, *parts, levels=0)


def membership(value: Located, items: Sequence[Located], where: Where) -> Located:
    """Build IN; the items are a set, so their order and repetition do not matter."""
    if not items:
        refuse(FilterSyntaxError, "IN needs at least one value", where)
    _same_kind(items, "list")
    _same_kind([value, *items], "compare")
    known = _scalar(value, "IN")
    distinct = sorted({_scalar(item, "IN") for item in items}, key=repr)
    if len(distinct) == 1:
        return comparison("=", value, items[0])
    if isinstance(known, LITERALS) and all(isinstance(item, LITERALS) for item in distinct):
        found = any(fold.compare("=", known, item) for item in distinct)
        return located(Constant(found), value.where, value, *items, levels=0)
    return located(In(known, tuple(distinct)), value.where, value, *items, levels=0)


def like(value: Located, pattern: Located) -> Located:
    """Build LIKE with a pattern that is known."""
    node = _text(value, "LIKE")
    if not isinstance(pattern.node, Text):
        refuse(FilterTypeError, "the pattern of LIKE must be a string literal", pattern.where)
    wanted = pattern.node.value
    if len(wanted) > MAX_PATTERN:
        reason = f"the pattern has more than {MAX_PATTERN} characters"
        refuse(FilterLimitError, reason, pattern.where)
    if isinstance(node, Text):
        matched = like_pattern(wanted).fullmatch(node.value) is not None
        return located(Constant(matched), value.where, value, pattern, levels=0)
    return located(Like(node, wanted), value.where, value, pattern, levels=0)


def is_null(part: Located) -> Located:
    """Build IS NULL; what is known, and the geometry, never is."""
    node = part.node
    if isinstance(node, Constant):
        return located(Constant(node.value is None), part.where, part)
    if kind_of(node) is Kind.GEOMETRY or isinstance(node, LITERALS):
        return located(Constant(False), part.where, part)
    if kind_of(node) in (Kind.INTERVAL, Kind.ARRAY):
        refuse(FilterTypeError, f"IS NULL cannot be asked of {kind_of(node).value}", part.where)
    return located(IsNull(cast("Scalar | Condition", node)), part.where, part)


def string_fold(name: FoldName, part: Located, where: Where) -> Located:
    """Build CASEI or ACCENTI."""
    node = _text(part, name.name)
    if isinstance(node, Text):
        return located(Text(FOLDS[name](node.value)), where, part)
    return located(Fold(name, node), where, part)


def arithmetic(op: str, left: Located, right: Located) -> Located:
    """Build an arithmetic expression; without a finite result it stays, and evaluates to NULL."""
    first, second = (_numeric(part, op) for part in (left, right))
    node: Scalar = Arithmetic(op, first, second)
    if isinstance(first, Number) and isinstance(second, Number):
        result = fold.arithmetic(op, first.value, second.value)
        node = node if result is None else Number(result)
    return located(node, left.where, left, right)


def positive(part: Located, where: Where) -> Located:
    """Build unary plus, which is nothing but the number."""
    return Located(_numeric(part, "+"), where, part.depth)


def negative(part: Located, where: Where) -> Located:
    """Build unary minus, which CQL2 JSON writes as a product with -1."""
    if isinstance(part.node, Number):
        return Located(Number(-part.node.value), where, part.depth)
    return arithmetic("*", Located(Number(-1), where), part)


def spatial(predicate: Predicate, left: Located, right: Located) -> Located:
    """Build a spatial condition with the publication's geometry first."""
    sides = [_geometry(part) for part in (left, right)]
    first, second = sides
    node: Condition
    if isinstance(first, Shape) and isinstance(second, Shape):
        node = Constant(geometry.relation_holds(predicate, first, second))
    elif isinstance(second, Shape):
        node = Spatial(predicate, second.wkb)
    elif isinstance(first, Shape):
        node = Spatial(predicate.converse, first.wkb)
    else:
        node = Constant(predicate in _SELF_TRUE)
    return located(node, left.where, left, right)


def _geometry(part: Located) -> Property | Shape:
    node = part.node
    if isinstance(node, Property) and node.name != GEOMETRY_NAME:
        reason = f"{node.name!r} is not a geometry; the publication's is called 'geometry'"
        refuse(FilterTypeError, reason, part.where)
    if not isinstance(node, Property | Shape):
        refuse(FilterTypeError, f"{kind_of(node).value} is not a geometry", part.where)
    return node


def _scalar(part: Located, op: str) -> Scalar:
    kind = kind_of(part.node)
    if kind not in SCALAR_KINDS:
        advice = _ADVICE.get(kind, "")
        refuse(FilterTypeError, f"{kind.value} cannot be used with {op}{advice}", part.where)
    return cast(Scalar, part.node)


def _text(part: Located, name: str) -> Scalar:
    kind = kind_of(part.node)
    if kind not in (Kind.ANY, Kind.TEXT):
        refuse(FilterTypeError, f"{name} needs a string, not {kind.value}", part.where)
    return cast(Scalar, part.node)


def _numeric(part: Located, op: str) -> Scalar:
    kind = kind_of(part.node)
    if kind not in (Kind.ANY, Kind.NUMBER):
        refuse(FilterTypeError, f"{kind.value} cannot be used with {op}", part.where)
    return cast(Scalar, part.node)


def _same_kind(parts: Sequence[Located], verb: str) -> None:
    """Refuse the first part whose known type differs from that of an earlier one."""
    expected = Kind.ANY
    for part in parts:
        kind = kind_of(part.node)
        if expected is Kind.ANY:
            expected = kind
        elif kind not in (Kind.ANY, expected):
            reason = f"cannot {verb} {expected.value} with {kind.value}"
            refuse(FilterTypeError, reason, part.where)
