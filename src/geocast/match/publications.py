"""A batch of publications, taken apart: single points, other geometries, and what is unusable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from geocast.match.columns import Identified, binary_column, string_ids
from geocast.match.geometry.check import plain_or_reason
from geocast.match.geometry.decode import wkb_of
from geocast.match.geometry.wkb import Counts, WkbColumn, count, from_arrow

__all__ = ["Publications", "read_publications"]

_POINT = 1
_POINT_BYTES = 21
_POINT_LAYOUT = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])


@dataclass(frozen=True)
class Publications:
    """The rows of a batch by what they are; `reasons` holds bad rows met so far."""

    ids: Identified
    column: WkbColumn
    counts: Counts
    point_rows: NDArray[np.int64]
    xs: NDArray[np.float64]
    ys: NDArray[np.float64]
    other_rows: NDArray[np.int64]
    reasons: dict[int, str]


def read_publications(batch: pa.RecordBatch | pa.Table) -> Publications:
    """Take a batch apart. Raises InputError for a missing or unusable column."""
    ids = string_ids(batch, "publications")
    column = from_arrow(binary_column(batch, "geometry", "publications"))
    counts = count(column)
    reasons = dict(ids.reasons)
    is_point = counts.kind == _POINT
    point_rows = np.flatnonzero(is_point)
    xs, ys = _point_coordinates(column, point_rows)
    sane = (np.abs(xs) <= 180.0) & (np.abs(ys) <= 90.0)
    if not sane.all():
        bad = point_rows[~sane]
        for row, wkb in zip(bad, wkb_of(column, bad), strict=True):
            reasons.setdefault(int(row), plain_or_reason(wkb)[1])
        point_rows, xs, ys = point_rows[sane], xs[sane], ys[sane]
    return Publications(ids, column, counts, point_rows, xs, ys, np.flatnonzero(~is_point), reasons)


def _point_coordinates(
    column: WkbColumn, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, last = int(column.offsets[0]), int(column.offsets[-1])
    if len(rows) == len(column.offsets) - 1 and last - first == _POINT_BYTES * len(rows):
        points = column.data[first:last].view(_POINT_LAYOUT)
        return np.ascontiguousarray(points["x"]), np.ascontiguousarray(points["y"])
    xy = np.empty((2, len(rows)))
    _copy_points(column, rows, xy[0].view(np.uint8), xy[1].view(np.uint8))
    return xy[0], xy[1]


@njit(cache=True)
def _copy_points(
    column: WkbColumn, rows: NDArray[np.int64], xs: NDArray[np.uint8], ys: NDArray[np.uint8]
) -> None:
    for k in range(len(rows)):
        at = column.offsets[rows[k]] + 5
        xs[8 * k : 8 * k + 8] = column.data[at : at + 8]
        ys[8 * k : 8 * k + 8] = column.data[at + 8 : at + 16]
