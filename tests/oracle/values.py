"""Operations on single values; None is NULL, and so is what makes no sense."""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import shapely

from tests.oracle.literals import read_instant

__all__ = [
    "COMPARISONS",
    "TEXT_FUNCTIONS",
    "arithmetic",
    "compare",
    "element_key",
    "is_number",
    "like",
]

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def is_number(value: Any) -> bool:
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return number and not math.isnan(value)


def compare(op: str, left: Any, right: Any) -> bool | None:
    """Compare two scalars of one type; NULL where either is NULL or the types differ.

    A date and a time are compared by their days.
    """
    left, right = _read(left, right), _read(right, left)
    left, right = _as_day(left, right), _as_day(right, left)
    kind = _kind(left)
    if kind is None or kind != _kind(right):
        return None
    return COMPARISONS[op](left, right)


def _kind(value: Any) -> str | None:
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dt.datetime):
        return "timestamp"
    return "date" if isinstance(value, dt.date) else None


def _read(value: Any, other: Any) -> Any:
    """Read a string as an instant where it is compared with one: GeoJSON has no other way."""
    if isinstance(value, str) and isinstance(other, dt.date):
        return read_instant(value)
    return value


def _as_day(value: Any, other: Any) -> Any:
    return value.date() if _kind(value) == "timestamp" and _kind(other) == "date" else value


def arithmetic(op: str, left: Any, right: Any) -> float | int | None:
    """Calculate; NULL where an operand is no number or the result is none."""
    if not (is_number(left) and is_number(right)):
        return None
    try:
        result = _ARITHMETIC[op](left, right)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    return None if isinstance(result, complex) or not math.isfinite(result) else result


def _quotient(left: Any, right: Any) -> int:
    """Divide toward zero; whole numbers exactly, whatever their size."""
    if isinstance(left, int) and isinstance(right, int):
        size = abs(left) // abs(right)
        return size if (left < 0) == (right < 0) else -size
    return int(left / right)


def _remainder(left: Any, right: Any) -> Any:
    """What is left by `_quotient`, with the sign of the dividend."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right * _quotient(left, right)
    return math.fmod(left, right)


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": lambda left, right: _remainder(left, right),
    "div": lambda left, right: _quotient(left, right),
    "^": lambda left, right: float(left) ** float(right),
}


def like(text: Any, pattern: Any) -> bool | None:
    """Match a whole string: % is any run, _ one character, backslash makes the next plain."""
    if not (isinstance(text, str) and isinstance(pattern, str)):
        return None
    pieces = re.findall(r"\\.|.", pattern, re.DOTALL)
    regex = "".join(_LIKE.get(piece) or re.escape(_bare(piece)) for piece in pieces)
    return re.fullmatch(regex, text, re.DOTALL) is not None


_LIKE = {"%": ".*", "_": "."}


def _bare(piece: str) -> str:
    return piece[1] if len(piece) == 2 else piece


def _without_case(value: Any) -> str | None:
    return value.casefold() if isinstance(value, str) else None


def _without_accents(value: Any) -> str | None:
    """Decompose and drop non-spacing marks, but keep the Japanese voicing marks."""
    if not isinstance(value, str):
        return None
    letters = unicodedata.normalize("NFD", value)
    kept = "".join(c for c in letters if unicodedata.category(c) != "Mn" or c in "\u3099\u309a")
    return unicodedata.normalize("NFC", kept)


TEXT_FUNCTIONS: Mapping[str, Callable[[Any], str | None]] = {
    "casei": _without_case,
    "accenti": _without_accents,
}


def element_key(value: Any) -> Any:
    """A key under which equal elements of arrays are one; TRUE is not 1."""
    if isinstance(value, list | tuple):
        return ("array", frozenset(element_key(item) for item in value))
    if isinstance(value, shapely.Geometry):
        return ("geometry", shapely.normalize(value).wkb)
    return (_kind(value), value)
