"""Attribute constraints on Arrow batches, by three-valued logic.

A missing column and a null are NULL, and so is a value of another type than the constraint
asks for; nothing in a batch raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from geocast.language import AttributeConstraint, Expression
from geocast.language.kinds import LITERALS, Kind, kind_of
from geocast.language.tree import (
    Array,
    ArrayRelation,
    Between,
    Comparison,
    In,
    Interval,
    IsNull,
    Like,
    Property,
    Scalar,
    Temporal,
)
from geocast.match.content import arrays, temporal
from geocast.match.content.compare import compare
from geocast.match.content.like import matches
from geocast.match.content.operands import Operands
from geocast.match.content.values import Mask, Truth

__all__ = ["Evaluator", "evaluate"]

_PLAIN_KINDS = (Kind.NUMBER, Kind.TEXT, Kind.BOOLEAN)


def evaluate(constraint: AttributeConstraint, batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return TRUE, FALSE or null for every row of the batch, negation applied."""
    truth = Evaluator(batch).truth(constraint)
    return pa.array(truth.value, mask=~truth.known)


class Evaluator:
    """Evaluates constraints on one batch; what they have in common is computed once."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._length = batch.num_rows
        self._operands = Operands(batch)

    def truth(self, constraint: AttributeConstraint) -> Truth:
        """Return what the constraint is worth in every row."""
        truth = self._expression(constraint.expression)
        truth = truth.negated() if constraint.negated else truth
        return Truth(self._full(truth.value), self._full(truth.known))

    def _full(self, mask: Mask) -> Mask:
        return np.broadcast_to(mask, self._length) if len(mask) != self._length else mask

    def _expression(self, node: Expression) -> Truth:
        match node:
            case Comparison(op, left, right):
                return self._compare(op, left, right)
            case Between(value, low, high):
                return self._between(value, low, high)
            case In(value, items):
                return self._membership(value, items)
            case Like(value, pattern):
                return matches(self._operands.strings(value), pattern)
            case IsNull(operand):
                return self._is_null(operand)
            case Temporal(name, left, right):
                return temporal.relate(name, self._span(left), self._span(right))
            case ArrayRelation(name, left, right):
                return arrays.relate(name, self._elements(left), self._elements(right))

    def _compare(self, op: str, left: Scalar, right: Scalar) -> Truth:
        """Compare by the kind that is known, or by whichever kind both values have in a row."""
        of = self._operands.of
        kind = next((k for k in map(kind_of, (left, right)) if k is not Kind.ANY), None)
        if kind is not None:
            return compare(op, of(kind, left), of(kind, right))
        parts = [compare(op, of(plain, left), of(plain, right)) for plain in _PLAIN_KINDS]
        times, written = self._operands.times, self._operands.written_times
        parts.append(compare(op, times(left), self._operands.instants(right)))
        parts.append(compare(op, written(left), times(right)))
        value = np.logical_or.reduce([part.value for part in parts])
        return Truth(value, np.logical_or.reduce([part.known for part in parts]))

    def _between(self, value: Scalar, low: Scalar, high: Scalar) -> Truth:
        """Unlike AND, BETWEEN is NULL as soon as any of its operands is."""
        above, below = self._compare(">=", value, low), self._compare("<=", value, high)
        known = above.known & below.known
        return Truth(above.value & below.value, known)

    def _membership(self, value: Scalar, items: Sequence[Scalar]) -> Truth:
        if all(isinstance(item, LITERALS) for item in items):
            found = self._operands.among(value, items)
            if found is not None:
                return found
        truth = self._compare("=", value, items[0])
        for item in items[1:]:
            truth = truth | self._compare("=", value, item)
        return truth

    def _is_null(self, operand: Any) -> Truth:
        if isinstance(operand, Property):
            missing = ~self._operands.present(operand.name)
        elif kind_of(operand) is Kind.CONDITION:
            missing = ~self._expression(operand).known
        else:
            missing = ~self._operands.of(kind_of(operand), operand).valid
        return Truth(missing, np.ones_like(missing))

    def _span(self, node: Scalar) -> temporal.Span:
        if not isinstance(node, Interval):
            moment = self._operands.instants(node)
            return temporal.Span(moment, moment)
        return temporal.Span(
            temporal.OPEN_START if node.start is None else self._operands.instants(node.start),
            temporal.OPEN_END if node.end is None else self._operands.instants(node.end),
        )

    def _elements(self, node: Scalar) -> arrays.Elements:
        if isinstance(node, Array):
            return self._operands.listed(node.items)
        return self._operands.elements(node)
