"""A column of WKB from outside to 2-D little-endian WKB that is whole.

Most columns are already as they should be, and finding that out must not cost a parse: the
headers and counts of a whole column are followed at once. What is unusual but clean (empty parts,
collections) is walked from count to count, and only the rest (big-endian, with Z or M, with an
SRID, damaged) goes through the geometry library.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

__all__ = ["Checked", "check_wkb"]

_MAX_DEPTH = 32
_HEAD = struct.Struct("<BII")
_COUNT = struct.Struct("<I")


@dataclass(frozen=True)
class Checked:
    """A clean column; `bad` gives the reason for each index whose value was no WKB (now null)."""

    column: pa.Array
    bad: dict[int, str]


def check_wkb(column: pa.Array) -> Checked:
    """Return a `binary` array as 2-D little-endian WKB; nulls stay null."""
    doubtful = np.flatnonzero(~_plainly_good(column))
    todo = [int(i) for i in doubtful if not _is_clean(column[int(i)].as_py())]
    if not todo:
        return Checked(column, {})
    return _repaired(column, todo)


def _plainly_good(column: pa.Array) -> NDArray[np.bool_]:
    """Tell for each value whether it is null or plainly a whole 2-D little-endian geometry."""
    # Loads numba, which commands that read no Parquet can do without.
    from geocast.match.geometry.wkb import count, from_arrow

    null = column.is_null().to_numpy(zero_copy_only=False)
    return np.asarray(null | (count(from_arrow(column)).flaw == 0), dtype=np.bool_)


def _is_clean(data: bytes | None) -> bool:
    """Tell whether `data` is exactly one 2-D little-endian geometry, by walking its counts."""
    try:
        return data is None or _end(data, 0, 0) == len(data)
    except (struct.error, ValueError):
        return False


def _end(data: bytes, at: int, depth: int) -> int:
    """Return where the geometry at `at` ends; raises ValueError if it is not clean."""
    if depth > _MAX_DEPTH or data[at : at + 5] == b"":
        raise ValueError
    order, kind, count = _HEAD.unpack_from(data, at)
    if order != 1 or not 1 <= kind <= 7:
        raise ValueError
    if kind == 1:
        return at + 21
    if kind == 2:
        return at + 9 + 16 * int(count)
    at += 9
    for _ in range(count):
        if kind == 3:
            at += 4 + 16 * int(_COUNT.unpack_from(data, at)[0])
        else:
            at = _end(data, at, depth + 1)
    return at


def _repaired(column: pa.Array, todo: list[int]) -> Checked:
    values = column.to_pylist()
    found = shapely.from_wkb([values[i] for i in todo], on_invalid="ignore")
    flat = shapely.to_wkb(found, output_dimension=2, byte_order=1)
    bad = {}
    for i, wkb in zip(todo, flat, strict=True):
        if wkb is None:
            bad[i] = _why(values[i])
        values[i] = wkb
    return Checked(pa.array(values, pa.binary()), bad)


def _why(data: bytes) -> str:
    if not data:
        return "the geometry is not WKB: it has no bytes"
    try:
        shapely.from_wkb(data)
    except shapely.errors.GEOSException as error:
        reason = str(error).splitlines()[0].removeprefix("ParseException: ")
        return f"the geometry is not WKB: {reason}"
    return "the geometry is not WKB"
