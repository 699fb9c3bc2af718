"""Arithmetic on columns: exact on integers, without a result where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocast.match.content.values import Numbers

__all__ = ["compute"]

_LIMIT = 2**63


def compute(op: str, left: Numbers, right: Numbers) -> Numbers:
    """Compute row by row; no value where an operand has none, by zero, or beyond all bounds."""
    first, second = _operands(op, left.data, right.data)
    valid = left.valid & right.valid
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


def _operands(
    op: str, left: NDArray[Any], right: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both in the type to compute in: int64, Python int if that overflows, or float64."""
    integers = left.dtype == right.dtype == np.int64
    if not integers or op in ("/", "^"):
        return left.astype(np.float64), right.astype(np.float64)
    if _bound(op, _largest(left), _largest(right)) < _LIMIT:
        return left, right
    return left.astype(object), right.astype(object)


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
