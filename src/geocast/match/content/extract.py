"""Arrow pieces to values of one kind; rows of any other kind are not valid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.language.times import DAY_MICROS, parse_instant
from geocast.match.content.columns import Piece
from geocast.match.content.values import Booleans, Instants, Mask, Numbers, Strings

__all__ = [
    "booleans",
    "instants",
    "is_number",
    "is_text",
    "is_time",
    "numbers",
    "present",
    "strings",
]

_EXACT = 2**53
_INT64 = np.iinfo(np.int64)
_FARTHEST = 2**61  # microseconds; far enough from the limits of int64 to compute with
_UTC = pa.timestamp("us", "UTC")
_REGULAR = r"^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$"
_MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def is_text(kind: pa.DataType) -> bool:
    """Say whether a type holds strings."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_time(kind: pa.DataType) -> bool:
    """Say whether a type holds dates or times."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_number(kind: pa.DataType) -> bool:
    """Say whether a type holds numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _validity(array: pa.Array) -> Mask:
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    return np.asarray(array.is_valid())


def present(pieces: Iterable[Piece], length: int) -> Mask:
    """Return where there is a value of whatever kind; NaN is none."""
    result = np.zeros(length, np.bool_)
    for piece in pieces:
        valid = _validity(piece.array)
        if pa.types.is_floating(piece.array.type):
            valid = _floats(piece.array).valid
        result[slice(None) if piece.rows is None else piece.rows] = valid
    return result


def booleans(pieces: Iterable[Piece], length: int) -> Booleans:
    """Return the booleans among the values."""
    data, valid = np.zeros(length, np.bool_), np.zeros(length, np.bool_)
    for piece in pieces:
        if pa.types.is_boolean(piece.array.type):
            rows = slice(None) if piece.rows is None else piece.rows
            data[rows] = np.asarray(piece.array.fill_null(False))
            valid[rows] = _validity(piece.array)
    return Booleans(data, valid)


def strings(pieces: Iterable[Piece], length: int) -> Strings:
    """Return the strings among the values."""
    chosen = [piece for piece in pieces if is_text(piece.array.type)]
    arrays = [piece.array.cast(pa.large_string()) for piece in chosen]
    if len(chosen) == 1 and chosen[0].rows is None:
        return Strings(arrays[0], _validity(arrays[0]))
    places = np.full(length, -1, np.int64)
    for piece, start in zip(chosen, np.cumsum([0, *map(len, arrays)]), strict=False):
        places[slice(None) if piece.rows is None else piece.rows] = start + np.arange(
            len(piece.array)
        )
    pool = pa.concat_arrays(arrays) if arrays else pa.nulls(0, pa.large_string())
    data = pool.take(pa.array(places, mask=places < 0))
    return Strings(data, _validity(data))


def numbers(pieces: Iterable[Piece], length: int) -> Numbers:
    """Return the numbers among the values, in the plainest type that holds all exactly."""
    chosen = [piece for piece in pieces if is_number(piece.array.type)]
    parts = [_piece_numbers(piece.array) for piece in chosen]
    if len(chosen) == 1 and chosen[0].rows is None:
        return parts[0]
    data = np.zeros(length, _common_type(parts))
    valid, whole = np.zeros(length, np.bool_), np.zeros(length, np.bool_)
    for piece, part in zip(chosen, parts, strict=True):
        rows = slice(None) if piece.rows is None else piece.rows
        data[rows] = part.data if data.dtype != object else part.data.astype(object)
        valid[rows] = part.valid
        whole[rows] = part.data.dtype == np.int64
    return Numbers(data, valid, whole if data.dtype == np.float64 else None)


def _common_type(parts: list[Numbers]) -> Any:
    types = {part.data.dtype for part in parts}
    if len(types) == 1:
        return types.pop()
    integers = [part.data for part in parts if part.data.dtype == np.int64]
    if np.dtype(object) in types or any(
        (abs(part.astype(object)) > _EXACT).any() for part in integers
    ):
        return object
    return np.float64


def _piece_numbers(array: pa.Array) -> Numbers:
    if pa.types.is_floating(array.type):
        return _floats(array)
    valid = _validity(array)
    if pa.types.is_decimal(array.type) or (
        pa.types.is_uint64(array.type) and (pc.max(array).as_py() or 0) > _INT64.max
    ):
        values = np.empty(len(array), object)
        values[:] = array.fill_null(0).to_pylist()
        return Numbers(values, valid)
    return Numbers(np.asarray(array.fill_null(0).cast(pa.int64())), valid)


def _floats(array: pa.Array) -> Numbers:
    data = np.asarray(array.cast(pa.float64()).fill_null(0.0))
    missing = np.isnan(data)
    return Numbers(np.where(missing, 0.0, data), _validity(array) & ~missing)


def instants(
    pieces: Iterable[Piece], length: int, accepts: Callable[[pa.DataType], bool]
) -> Instants:
    """Return the dates and times among the values of the types that `accepts` names.

    Strings are read as RFC 3339; what is no date or time is not valid. A timestamp without
    time zone is UTC; fractions of a microsecond are cut off.
    """
    data = np.zeros(length, np.int64)
    valid, day = np.zeros(length, np.bool_), np.zeros(length, np.bool_)
    for piece in pieces:
        if accepts(piece.array.type):
            part = _piece_instants(piece.array)
            rows = slice(None) if piece.rows is None else piece.rows
            data[rows], valid[rows], day[rows] = part.data, part.valid, part.day
    return Instants(data, valid, day)


def _piece_instants(array: pa.Array) -> Instants:
    if is_text(array.type):
        return _parsed(array.cast(pa.large_string()))
    valid = _validity(array)
    whole_days = pa.types.is_date(array.type)
    if whole_days:
        data = np.asarray(array.cast(pa.date32()).cast(pa.int32()).fill_null(0)).astype(np.int64)
        data *= DAY_MICROS
    else:
        data = _micros(array)
    return Instants(data, valid, np.full(len(array), whole_days))


def _micros(array: pa.Array) -> NDArray[np.int64]:
    """Return a timestamp column in microseconds; what is 70,000 years away is clamped."""
    ticks = np.asarray(array.cast(pa.int64()).fill_null(0))
    if array.type.unit == "ns":
        return np.asarray(ticks // 1_000)
    factor = _MICROS[array.type.unit]
    farthest = _FARTHEST // factor
    return np.asarray(np.clip(ticks, -farthest, farthest) * factor)


def _parsed(array: pa.Array) -> Instants:
    """Read strings at once where all are times in UTC, else each distinct string on its own."""
    try:
        regular = pc.all(pc.match_substring_regex(array, _REGULAR)).as_py()
        moments = array.cast(_UTC) if regular else None
    except pa.ArrowInvalid:
        moments = None
    return _parsed_singly(array) if moments is None else _piece_instants(moments)


def _parsed_singly(array: pa.Array) -> Instants:
    encoded = array.dictionary_encode()
    parsed = [_parse_or_none(text) for text in encoded.dictionary.to_pylist()]
    micros = np.array([p.micros if p else 0 for p in parsed] or [0], np.int64)
    readable = np.array([p is not None for p in parsed] or [False])
    day = np.array([p is not None and p.day for p in parsed] or [False])
    codes = np.asarray(encoded.indices.fill_null(0))
    return Instants(micros[codes], readable[codes] & _validity(array), day[codes])


def _parse_or_none(text: str | None) -> Any:
    try:
        return parse_instant(text or "")
    except ValueError:
        return None
