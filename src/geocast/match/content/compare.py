"""Comparisons of two operands of one kind, exact and three-valued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.language.times import DAY_MICROS
from geocast.match.content.values import Booleans, Instants, Mask, Numbers, Strings, Truth

__all__ = ["compare", "compare_numbers", "floor_day"]

_NUMPY: dict[str, Callable[..., Mask]] = {
    "=": np.equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}
_ARROW = {
    "=": pc.equal,
    "<": pc.less,
    ">": pc.greater,
    "<=": pc.less_equal,
    ">=": pc.greater_equal,
}
_FLIPPED = {"=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_EXACT = 2**53
_TWO_63 = 2.0**63

Operand = Numbers | Strings | Booleans | Instants


def compare(op: str, left: Operand, right: Operand) -> Truth:
    """Compare row by row; unknown where either side has no value of the kind."""
    known = left.valid & right.valid
    if isinstance(left, Strings) and isinstance(right, Strings):
        value = _compare_strings(op, left.data, right.data)
    elif isinstance(left, Instants) and isinstance(right, Instants):
        value = _compare_instants(op, left, right)
    elif isinstance(left, Numbers) and isinstance(right, Numbers):
        value = compare_numbers(op, left.data, right.data)
    else:
        value = _NUMPY[op](left.data, right.data)
    return Truth(value & known, known)


def _compare_strings(op: str, left: pa.Array, right: pa.Array) -> Mask:
    """Compare by code points; a constant is an array of length 1."""
    if len(left) != len(right):
        left = left[0] if len(left) == 1 else left
        right = right[0] if len(right) == 1 else right
    return np.asarray(_ARROW[op](left, right).fill_null(False))


def _compare_instants(op: str, left: Instants, right: Instants) -> Mask:
    """Compare times as times; where one side is a date, compare the days."""
    first, second = left.data, right.data
    by_day = left.day | right.day
    if by_day.any():
        first = np.where(by_day, floor_day(first), first)
        second = np.where(by_day, floor_day(second), second)
    return _NUMPY[op](first, second)


def floor_day(micros: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the beginning of the day of each moment."""
    return micros - micros % DAY_MICROS


def compare_numbers(op: str, left: NDArray[Any], right: NDArray[Any]) -> Mask:
    """Compare without rounding, whatever the types: 2**53 + 1 is greater than 2.0**53."""
    if left.dtype == right.dtype != object:
        return _NUMPY[op](left, right)
    if object in (left.dtype, right.dtype):
        both = left.astype(object), right.astype(object)
        return np.asarray(_NUMPY[op](*both), np.bool_)
    if left.dtype == np.int64:
        return _compare_mixed(op, left, right)
    return _compare_mixed(_FLIPPED[op], right, left)


def _compare_mixed(op: str, whole: NDArray[np.int64], real: NDArray[np.float64]) -> Mask:
    """Compare int64 with float64 by the floor of the float, then by its fraction."""
    if whole.size == 1 and abs(int(whole[0])) <= _EXACT:
        return _NUMPY[op](whole.astype(np.float64), real)
    floor = np.floor(real)
    above, below = floor >= _TWO_63, floor < -_TWO_63
    base = np.where(above | below, 0.0, floor).astype(np.int64)
    order = (whole > base).astype(np.int8) - (whole < base)
    order = np.where((order == 0) & (real > floor), -1, order)
    order = np.where(above, -1, np.where(below, 1, order))
    return _NUMPY[op](order, 0)
