"""Temporal relations between instants and intervals, by comparing their bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocast.language.relations import TEMPORAL, Bounds
from geocast.language.times import DAY_MICROS
from geocast.match.content.values import Instants, Mask, Truth

__all__ = ["OPEN_END", "OPEN_START", "Span", "relate"]

_INT64 = np.iinfo(np.int64)
_NUMPY = {
    "=": np.equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}


def _open(moment: int) -> Instants:
    return Instants(np.array([moment], np.int64), np.array([True]), np.array([False]))


OPEN_START = _open(_INT64.min)
OPEN_END = _open(_INT64.max)


@dataclass(frozen=True, slots=True)
class Span:
    """A closed interval for every row; an instant is one that starts where it ends."""

    start: Instants
    end: Instants

    def bound(self, role: str) -> Instants:
        """Return the bound that a relation names."""
        return self.start if role == "start" else self.end

    @property
    def known(self) -> Mask:
        """Where both bounds have values and stand in order."""
        in_order = _holds(self, self, ("start", "<=", "end"), self.only_days)
        return self.start.valid & self.end.valid & in_order

    @property
    def only_days(self) -> Mask:
        """Where no bound is a time; an open end is none."""
        return (self.start.day | (self.start is OPEN_START)) & (
            self.end.day | (self.end is OPEN_END)
        )


def relate(name: str, left: Span, right: Span) -> Truth:
    """Decide a relation row by row; unknown where an operand has no value."""
    known = left.known & right.known
    only_days = left.only_days & right.only_days
    _, alternatives = TEMPORAL[name]
    value = np.zeros_like(known)
    for terms in alternatives:
        holds = known
        for term in terms:
            holds = holds & _holds(left, right, term, only_days)
        value = value | holds
    return Truth(value, known)


def _holds(left: Span, right: Span, comparison: Bounds, only_days: Mask) -> Mask:
    role, op, other_role = comparison
    first, second = left.bound(role), right.bound(other_role)
    result: Mask = _NUMPY[op](
        _moments(first, role, only_days), _moments(second, other_role, only_days)
    )
    return result


def _moments(bound: Instants, role: str, only_days: Mask) -> NDArray[np.int64]:
    """Place a bound on the axis; beside a time, a day ends with its last microsecond."""
    if role == "start" or not bound.day.any():
        return bound.data
    return bound.data + np.where(bound.day & ~only_days, DAY_MICROS - 1, 0)
