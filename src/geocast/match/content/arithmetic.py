"""Arithmetic on columns: exact on integers, without a result where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocast.match.content.values import Mask, Numbers

__all__ = ["compute"]

_LIMIT = 2**63
_EXACT = 2**53
_REAL = ("/", "^")


def compute(op: str, left: Numbers, right: Numbers) -> Numbers:
    """Compute row by row; no value where an operand has none, by zero, or beyond all bounds.

    What a row gives does not depend on the others: integers are computed exactly also where
    other rows have fractions.
    """
    valid = np.asarray(left.valid & right.valid)
    whole = np.zeros(len(valid), np.bool_) if op in _REAL else _whole(left) & _whole(right) & valid
    if not whole.any():
        return _computed(op, left.data.astype(np.float64), right.data.astype(np.float64), valid)
    if (whole == valid).all():
        return _computed(op, *_integers(op, left.data, right.data, whole), valid)
    first, second = (np.where(whole, 1, side.data).astype(np.float64) for side in (left, right))
    real = _computed(op, first, second, valid)
    exact = _computed(op, *_integers(op, left.data, right.data, whole), whole)
    large = (np.abs(exact.data[whole].astype(object)) > _EXACT).any()
    data = real.data.astype(object) if large else real.data
    data[whole] = exact.data[whole]
    known = np.where(whole, exact.valid, real.valid)
    return Numbers(data, known, None if large else whole)


def _computed(op: str, first: NDArray[Any], second: NDArray[Any], valid: Mask) -> Numbers:
    """Compute in the type of the operands."""
    if op in ("/", "%", "div"):
        valid = valid & (second != 0).astype(np.bool_)
        second = np.where(
            second == 0, second.dtype.type(1) if second.dtype != object else 1, second
        )
    with np.errstate(all="ignore"):
        result = _COMPUTE[op](first, second)
    if result.dtype == np.float64:
        finite = np.isfinite(result)
        return Numbers(np.where(finite, result, 0.0), valid & finite)
    return Numbers(result, valid)


def _whole(numbers: Numbers) -> Mask:
    """Which of the numbers are integers."""
    if numbers.data.dtype == object:
        return np.array([isinstance(value, int) for value in numbers.data], np.bool_)
    if numbers.whole is not None:
        return numbers.whole
    return np.full(len(numbers.data), numbers.data.dtype == np.int64)


def _integers(
    op: str, left: NDArray[Any], right: NDArray[Any], rows: Mask
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both as int64, or as Python integers if that overflows; 1 but in these rows."""
    both = [np.where(rows, data, 1) for data in np.broadcast_arrays(left, right)]
    first, second = (data if data.dtype == object else data.astype(np.int64) for data in both)
    if object in (first.dtype, second.dtype):
        return first.astype(object), second.astype(object)
    if _bound(op, _largest(first), _largest(second)) < _LIMIT:
        return first, second
    return first.astype(object), second.astype(object)


def _largest(data: NDArray[np.int64]) -> int:
    return max(abs(int(data.min())), abs(int(data.max()))) if data.size else 0


def _bound(op: str, left: int, right: int) -> int:
    """Bound the magnitude of every result and intermediate result."""
    return left * right if op == "*" else left + right


def _quotient(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Divide toward zero."""
    if left.dtype == np.float64:
        return np.asarray(np.trunc(left / right))
    floor = left // right
    inexact = floor * right != left
    return np.asarray(floor + (inexact & ((left < 0) != (right < 0))).astype(floor.dtype))


def _remainder(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return what division toward zero leaves: it has the sign of the dividend."""
    if left.dtype == np.float64:
        return np.asarray(np.fmod(left, right))
    return np.asarray(left - right * _quotient(left, right))


_COMPUTE: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": _remainder,
    "div": _quotient,
    "^": np.power,
}
