"""A column of distinct WKB to checked geometries: usable ones as shapes, the rest with a reason."""

from __future__ import annotations

from dataclasses import dataclass
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.match.geometry.check import geos_faults, plain_or_reason
from geocast.match.geometry.shapes import Shapes, concatenate
from geocast.match.geometry.validity import surely_valid
from geocast.match.geometry.wkb import Counts, Flaw, WkbColumn, count, decode, from_arrow

__all__ = ["Geometries", "decode_column", "decode_distinct", "wkb_of"]


@dataclass(frozen=True)
class Geometries:
    """Row i is shape number[i], or -1 and then reason[i] says why it cannot be used.

    A frail shape has rings whose direction is not proved; only GEOS may judge it.
    """

    shapes: Shapes
    frail: NDArray[np.bool_]
    number: NDArray[np.int64]
    reason: NDArray[np.object_]

    def extended(self, more: Geometries) -> Geometries:
        """Return these and, numbered on, those."""
        own = len(self.frail)
        return Geometries(
            concatenate(self.shapes, more.shapes),
            np.concatenate([self.frail, more.frail]),
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
    doubtful = np.flatnonzero((flaw != Flaw.NONE) | ~surely_valid(shapes))
    if len(doubtful):
        reason[doubtful] = _faults(wkb_of(column, rows[doubtful]), flaw[doubtful])
    number = np.where(reason == "", np.arange(len(rows)), -1)
    return Geometries(shapes, flaw != Flaw.NONE, number, reason)


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
    frail = np.concatenate([first.frail, more.frail])
    number = np.full(len(rows), -1, np.int64)
    number[plain] = first.number
    odd_number = np.full(len(wkb), -1, np.int64)
    odd_number[usable] = more.number + len(first.frail)
    number[~plain] = odd_number
    reason = np.full(len(rows), "", dtype=object)
    reason[plain], reason[~plain] = first.reason, reasons
    return Geometries(shapes, frail, number, reason)


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
