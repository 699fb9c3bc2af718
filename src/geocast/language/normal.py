"""From the expression tree to the normal form.

A filter accepts what makes it TRUE, so a condition is rewritten by asking what makes it true,
false, NULL or known. Each of the four is again a disjunction of conjunctions of literals, and
negation has moved into the literals; under three-valued logic this loses nothing. Literals are
numbered so that the complement of n is n ^ 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from geocast.errors import FilterLimitError
from geocast.language.form import AttributeConstraint, Filter, NormalForm, SpatialConstraint
from geocast.language.tree import (
    And,
    Condition,
    Constant,
    Expression,
    IsNull,
    Not,
    Or,
    Spatial,
)
from geocast.language.where import Where, refuse
from geocast.model import Predicate

__all__ = ["MAX_FILTERS", "normal_form"]

MAX_FILTERS = 1_000
"""How many filters a normal form may have."""

_Filters = frozenset[frozenset[int]]
_ALWAYS: _Filters = frozenset([frozenset()])
_NEVER: _Filters = frozenset()


class _Goal(Enum):
    TRUE = 0
    FALSE = 1
    NULL = 2
    KNOWN = 3


_OPPOSITE = {_Goal.TRUE: _Goal.FALSE, _Goal.FALSE: _Goal.TRUE}


def normal_form(condition: Condition, where: Where) -> NormalForm:
    """Bring a condition to its normal form.

    Raises FilterLimitError as soon as more than MAX_FILTERS distinct filters appear in it or
    in a part of it; what would be larger is never built.
    """
    work = _Normaliser(where)
    distinct = _absorbed(work.filters(condition, _Goal.TRUE))
    return NormalForm(tuple(sorted(map(work.filter, distinct), key=_filter_order)))


def _spatial_order(constraint: SpatialConstraint) -> tuple[int, bool, bytes]:
    return constraint.predicate, constraint.negated, constraint.geometry


def _filter_order(item: Filter) -> tuple[list[tuple[int, bool, bytes]], str]:
    return [_spatial_order(constraint) for constraint in item.spatial], repr(item.attributes)


def _absorbed(filters: _Filters) -> list[frozenset[int]]:
    """Leave out every filter that asks for all that another one asks, and more."""
    kept: list[frozenset[int]] = []
    for candidate in sorted(filters, key=len):
        if not any(other <= candidate for other in kept):
            kept.append(candidate)
    return kept


class _Normaliser:
    """Literals of one expression, numbered, and the disjunctions made of them."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._numbers: dict[Spatial | Expression, int] = {}
        self._solved: dict[tuple[int, _Goal], _Filters] = {}

    def filters(self, node: Condition, goal: _Goal) -> _Filters:
        """Return the conjunctions of literals that bring the node to the goal."""
        key = (id(node), goal)
        if key not in self._solved:
            self._solved[key] = self._solve(node, goal)
        return self._solved[key]

    def _solve(self, node: Condition, goal: _Goal) -> _Filters:
        match node:
            case Not(term):
                return self.filters(term, _OPPOSITE.get(goal, goal))
            case And(terms):
                return self._joined(terms, goal, _Goal.TRUE, _Goal.FALSE)
            case Or(terms):
                return self._joined(terms, goal, _Goal.FALSE, _Goal.TRUE)
            case Constant(value):
                reached = {True: _Goal.TRUE, False: _Goal.FALSE, None: _Goal.NULL}[value]
                known = goal is _Goal.KNOWN and value is not None
                return _ALWAYS if reached is goal or known else _NEVER
        return self._literal(node, goal)

    def _joined(
        self, terms: Iterable[Condition], goal: _Goal, neutral: _Goal, decisive: _Goal
    ) -> _Filters:
        """Solve AND (all terms neutral, or one decisive) or OR, its mirror image."""
        if goal is decisive:
            return self._any(self.filters(term, decisive) for term in terms)
        if goal is neutral:
            return self._all(self.filters(term, neutral) for term in terms)
        if goal is _Goal.KNOWN:
            decided = self._any(self.filters(term, decisive) for term in terms)
            return self._any([decided, self._all(self.filters(term, neutral) for term in terms)])
        return self._unknown(terms, neutral)

    def _unknown(self, terms: Iterable[Condition], neutral: _Goal) -> _Filters:
        """All terms are neutral or NULL, and at least one is NULL."""
        clear, unknown = _ALWAYS, _NEVER
        for term in terms:
            here, null = self.filters(term, neutral), self.filters(term, _Goal.NULL)
            either = self._any([here, null])
            unknown = self._any([self._both(unknown, either), self._both(clear, null)])
            clear = self._both(clear, here)
        return unknown

    def _literal(self, node: Spatial | Expression, goal: _Goal) -> _Filters:
        if goal in _OPPOSITE:
            operand = node.operand if isinstance(node, IsNull) else None
            if isinstance(operand, Spatial | Constant | And | Or | Not | IsNull):
                return self.filters(operand, _Goal.NULL if goal is _Goal.TRUE else _Goal.KNOWN)
            return frozenset([frozenset([self._number(node) ^ goal.value])])
        if isinstance(node, Spatial | IsNull):
            return _ALWAYS if goal is _Goal.KNOWN else _NEVER
        return frozenset([frozenset([self._number(IsNull(node)) ^ (goal is _Goal.KNOWN)])])

    def _number(self, node: Spatial | Expression) -> int:
        if isinstance(node, Spatial) and node.predicate is Predicate.DISJOINT:
            return self._number(Spatial(Predicate.INTERSECTS, node.wkb)) ^ 1
        return self._numbers.setdefault(node, 2 * len(self._numbers))

    def _any(self, parts: Iterable[_Filters]) -> _Filters:
        result: set[frozenset[int]] = set()
        for part in parts:
            result |= part
            self._check(len(result))
        return frozenset(result)

    def _all(self, parts: Iterable[_Filters]) -> _Filters:
        """Distribute over all parts; those without a choice are joined at one go."""
        ordered = sorted(parts, key=len)
        single = [next(iter(part)) for part in ordered if len(part) == 1]
        joined: frozenset[int] = frozenset().union(*single)
        if (ordered and not ordered[0]) or any(number ^ 1 in joined for number in joined):
            return _NEVER
        result: _Filters = frozenset([joined])
        for part in ordered[len(single) :]:
            result = self._both(result, part)
        return result

    def _both(self, left: _Filters, right: _Filters) -> _Filters:
        """Distribute, leaving out what contradicts itself and stopping at the limit."""
        result: set[frozenset[int]] = set()
        for first in left:
            for second in right:
                if not any(number ^ 1 in first for number in second):
                    result.add(first | second)
            self._check(len(result))
        return frozenset(result)

    def _check(self, count: int) -> None:
        if count > MAX_FILTERS:
            reason = f"more than {MAX_FILTERS} filters when brought to normal form"
            refuse(FilterLimitError, reason, self._where)

    def filter(self, numbers: frozenset[int]) -> Filter:
        """Return the filter that these literals make."""
        literals = list(self._numbers)
        chosen = [(literals[number // 2], bool(number % 2)) for number in numbers]
        spatial = [_spatial(node, not_) for node, not_ in chosen if isinstance(node, Spatial)]
        attributes = [
            AttributeConstraint(node, negated)
            for node, negated in chosen
            if not isinstance(node, Spatial)
        ]
        return Filter(
            tuple(sorted(spatial, key=_spatial_order)), tuple(sorted(attributes, key=repr))
        )


def _spatial(node: Spatial, negated: bool) -> SpatialConstraint:
    if negated and node.predicate is Predicate.INTERSECTS:
        return SpatialConstraint(Predicate.DISJOINT, node.wkb, False)
    return SpatialConstraint(node.predicate, node.wkb, negated)
