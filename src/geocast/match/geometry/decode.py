"""A column of distinct WKB to checked geometries: usable ones as shapes, the rest with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.match.geometry.check import geos_faults, plain_or_reason
from geocast.match.geometry.shapes import Shapes, concatenate
from geocast.match.geometry.validity import surely_valid
from geocast.match.geometry.wkb import Counts, Flaw, WkbColumn, count, decode, from_arrow

__all__ = ["Care", "Geometries", "decode_column", "decode_distinct", "wkb_of"]


class Care:
    """With how much care kernels must treat a usable geometry."""

    NONE: Final = 0
    TOUCHY: Final = 1  # rings may touch: where one edge is crossed, another may begin
    FRAIL: Final = 2  # the direction of rings is not proved: only GEOS may judge


@dataclass(frozen=True)
class Geometries:
    """Row i is shape number[i], or -1 and then reason[i] says why it cannot be used."""

    shapes: Shapes
    care: NDArray[np.uint8]
    number: NDArray[np.int64]
    reason: NDArray[np.object_]

    def extended(self, more: Geometries) -> Geometries:
        """Return these and, numbered on, those."""
        own = len(self.care)
        return Geometries(
            concatenate(self.shapes, more.shapes),
            np.concatenate([self.care, more.care]),
            np.concatenate([self.number, np.where(more.number < 0, -1, more.number + own)]),
            np.concatenate([self.reason, more.reason]),
        )


def decode_distinct(column: pa.Array) -> Geometries:
    """Decode and check every row of an Arrow binary array."""
    wkb = from_arrow(column)
    return decode_column(wkb, count(wkb), np.arange(len(column)))


def decode_column(column: WkbColumn, counts: Counts, rows: NDArray[np.int64]) -> Geometries:
    """Decode and check these rows of a WKB column; row k of the answer is rows[k]."""
    plain = counts.flaw[rows] == Flaw.NONE
    first = _decode_plain(column, counts, rows[plain])
    if plain.all():
        return first
    return _with_unusual(first, column, rows, plain)


def _decode_plain(column: WkbColumn, counts: Counts, rows: NDArray[np.int64]) -> Geometries:
    shapes, flaw = decode(column, counts, rows)
    reason = np.full(len(rows), "", dtype=object)
    care = np.where(surely_valid(shapes, flaw), Care.NONE, Care.TOUCHY).astype(np.uint8)
    care[flaw != Flaw.NONE] = Care.FRAIL
    doubtful = np.flatnonzero(care)
    if len(doubtful):
        reason[doubtful] = _faults(wkb_of(column, rows[doubtful]), flaw[doubtful])
    number = np.where(reason == "", np.arange(len(rows)), -1)
    return Geometries(shapes, care, number, reason)


def _with_unusual(
    first: Geometries, column: WkbColumn, rows: NDArray[np.int64], plain: NDArray[np.bool_]
) -> Geometries:
    """Add the rows that are not plain WKB: as plain as GEOS can make them, or with a reason."""
    wkb = wkb_of(column, rows[~plain])
    reasons = np.full(len(wkb), "", dtype=object)
    for k, value in enumerate(wkb):
        wkb[k], reasons[k] = plain_or_reason(value or None)
    usable = reasons == ""
    more = decode_distinct(pa.array(wkb[usable].tolist(), pa.binary()))
    shapes = concatenate(first.shapes, more.shapes)
    care = np.concatenate([first.care, more.care])
    number = np.full(len(rows), -1, np.int64)
    number[plain] = first.number
    odd_number = np.full(len(wkb), -1, np.int64)
    odd_number[usable] = more.number + len(first.care)
    number[~plain] = odd_number
    reason = np.full(len(rows), "", dtype=object)
    reason[plain], reason[~plain] = first.reason, reasons
    return Geometries(shapes, care, number, reason)


def _faults(wkb: NDArray[np.object_], flaw: NDArray[np.uint8]) -> NDArray[np.object_]:
    """Return GEOS's word on each; what kernels saw as flawed is looked at one by one."""
    faults = np.full(len(wkb), "", dtype=object)
    plain = flaw == Flaw.NONE
    faults[plain] = geos_faults(wkb[plain])
    faults[~plain] = [plain_or_reason(value)[1] for value in wkb[~plain]]
    return faults


def wkb_of(column: WkbColumn, rows: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return the bytes of these rows, one object each."""
    out = np.empty(len(rows), dtype=object)
    for k, row in enumerate(rows):
        out[k] = column.data[column.offsets[row] : column.offsets[row + 1]].tobytes()
    return out
