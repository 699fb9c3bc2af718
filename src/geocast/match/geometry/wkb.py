"""A column of WKB to flat geometries, without making an object for any of them.

The kernels read plain WKB: little-endian, two-dimensional, one of the six types, nothing empty.
Anything else is left to GEOS, which either turns it into plain WKB or says what is wrong.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, frozen

__all__ = ["Counts", "Flaw", "WkbColumn", "count", "decode", "from_arrow"]


class Flaw:
    """What a kernel noticed about a geometry; GEOS has the last word on all but NONE."""

    NONE: Final = 0
    NOT_PLAIN: Final = 1  # not plain WKB, or truncated, or empty
    COORDINATE: Final = 2  # not finite, or outside longitude and latitude
    RING: Final = 3  # a ring that is open, too short or of no area; a line of one point


_NOT_PLAIN: Final = Flaw.NOT_PLAIN
_COORDINATE: Final = Flaw.COORDINATE
_RING: Final = Flaw.RING


class WkbColumn(NamedTuple):
    """The bytes of a binary column: row i is data[offsets[i]:offsets[i + 1]]."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]


class Counts(NamedTuple):
    """What each row of a WKB column holds: flaw, type, and numbers of vertices, paths, parts."""

    flaw: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    vertices: NDArray[np.int64]
    paths: NDArray[np.int64]
    parts: NDArray[np.int64]


def from_arrow(column: pa.Array) -> WkbColumn:
    """Return the bytes of an Arrow binary array without copying them; nulls have no bytes."""
    wide = pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    width = np.dtype(np.int64 if wide else np.int32)
    all_offsets = np.frombuffer(offsets, width) if offsets is not None else np.zeros(1, width)
    own = all_offsets[column.offset : column.offset + len(column) + 1].astype(np.int64)
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return WkbColumn(frozen(content), own)


@njit(cache=True, inline="always")
def _u4(data: NDArray[np.uint8], p: int) -> np.int64:
    return (
        np.int64(data[p])
        | (np.int64(data[p + 1]) << 8)
        | (np.int64(data[p + 2]) << 16)
        | (np.int64(data[p + 3]) << 24)
    )


@njit(cache=True)
def _skip_paths(data: NDArray[np.uint8], p: int, end: int, paths: int) -> tuple[int, int]:
    """Step over that many counted runs of vertices; returns (-1, 0) where they do not fit."""
    vertices = 0
    for _ in range(paths):
        if p + 4 > end:
            return -1, 0
        n = _u4(data, p)
        p += 4 + 16 * n
        if n == 0 or p > end:
            return -1, 0
        vertices += n
    return p, vertices


@njit(cache=True)
def _count_part(data: NDArray[np.uint8], p: int, end: int, kind: int) -> tuple[int, int, int]:
    """Step over the body of a point (1), line (2) or polygon (3): position, vertices, paths."""
    if kind == 1:
        return (p + 16, 1, 1) if p + 16 <= end else (-1, 0, 0)
    paths = 1
    if kind == 3:
        if p + 4 > end:
            return -1, 0, 0
        paths = _u4(data, p)
        p += 4
        if paths == 0:
            return -1, 0, 0
    p, vertices = _skip_paths(data, p, end, paths)
    return p, vertices, paths


@njit(cache=True)
def _count_rows(column: WkbColumn, counts: Counts) -> None:
    data = column.data
    for i in range(len(column.offsets) - 1):
        p, end = column.offsets[i], column.offsets[i + 1]
        counts.flaw[i] = _NOT_PLAIN
        counts.kind[i] = 0
        counts.vertices[i] = counts.paths[i] = counts.parts[i] = 0
        if end - p < 9 or data[p] != 1:
            continue
        kind = _u4(data, p + 1)
        if kind < 1 or kind > 6:
            continue
        p += 5
        parts = 1
        if kind > 3:
            parts = _u4(data, p)
            p += 4
            if parts == 0:
                continue
        vertices = paths = 0
        for _ in range(parts):
            if kind > 3:
                if p + 5 > end or data[p] != 1 or _u4(data, p + 1) != kind - 3:
                    p = -1
                    break
                p += 5
            p, v, k = _count_part(data, p, end, kind - 3 if kind > 3 else kind)
            if p < 0:
                break
            vertices += v
            paths += k
        if p != end:
            continue
        counts.flaw[i] = 0
        counts.kind[i] = kind
        counts.vertices[i] = vertices
        counts.paths[i] = 1 if kind == 4 else paths
        counts.parts[i] = 1 if kind == 4 else parts


def count(column: WkbColumn) -> Counts:
    """Look at every row once; rows that are not plain WKB have a flaw and count nothing."""
    n = len(column.offsets) - 1
    counts = Counts(
        np.empty(n, np.uint8),
        np.empty(n, np.uint8),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )
    _count_rows(column, counts)
    return counts


@njit(cache=True)
def _twice_area(xy: NDArray[np.float64], a: int, b: int) -> tuple[float, float]:
    """Twice the signed area of the ring xy[a:b], and a bound on its rounding error."""
    total = error = 0.0
    x0, y0 = xy[a, 0], xy[a, 1]
    for v in range(a, b - 1):
        p = (xy[v, 0] - x0) * (xy[v + 1, 1] - y0)
        q = (xy[v + 1, 0] - x0) * (xy[v, 1] - y0)
        total += p - q
        error += abs(p) + abs(q)
    return total, error * 1e-15 * (b - a)


@njit(cache=True)
def _reverse(xy: NDArray[np.float64], a: int, b: int) -> None:
    lo, hi = a, b - 1
    while lo < hi:
        for axis in range(2):
            t = xy[lo, axis]
            xy[lo, axis] = xy[hi, axis]
            xy[hi, axis] = t
        lo += 1
        hi -= 1


@njit(cache=True)
def _drop_repeats(xy: NDArray[np.float64], a: int, b: int) -> int:
    """Close up vertices that repeat the one before; returns the new end."""
    w = a + 1
    for v in range(a + 1, b):
        if xy[v, 0] != xy[w - 1, 0] or xy[v, 1] != xy[w - 1, 1]:
            xy[w, 0], xy[w, 1] = xy[v, 0], xy[v, 1]
            w += 1
    return w


@njit(cache=True)
def _turn_ring(xy: NDArray[np.float64], a: int, b: int, shell: bool) -> bool:
    """Turn a ring so that the interior lies on its left; False where it is no proper ring."""
    if b - a < 4 or xy[a, 0] != xy[b - 1, 0] or xy[a, 1] != xy[b - 1, 1]:
        return False
    area, error = _twice_area(xy, a, b)
    if abs(area) <= error:
        return False
    if (area > 0) != shell:
        _reverse(xy, a, b)
    return True


@njit(cache=True)
def _bounds_of(xy: NDArray[np.float64], a: int, b: int, box: NDArray[np.float64]) -> bool:
    """Set box to the bounds of xy[a:b]; False where a coordinate is no longitude, latitude."""
    x0 = x1 = xy[a, 0]
    y0 = y1 = xy[a, 1]
    sane = True
    for v in range(a, b):
        x, y = xy[v, 0], xy[v, 1]
        sane = sane and abs(x) <= 180.0 and abs(y) <= 90.0  # False for NaN
        x0, x1 = min(x0, x), max(x1, x)
        y0, y1 = min(y0, y), max(y1, y)
    box[0], box[1], box[2], box[3] = x0, y0, x1, y1
    return sane


@njit(cache=True)
def _fill(
    column: WkbColumn,
    rows: NDArray[np.int64],
    kind: NDArray[np.uint8],
    xy: NDArray[np.float64],
    xy_bytes: NDArray[np.uint8],
    path_off: NDArray[np.int32],
    part_off: NDArray[np.int32],
    geom_off: NDArray[np.int32],
    dim: NDArray[np.int8],
    bounds: NDArray[np.float64],
    flaw: NDArray[np.uint8],
) -> int:
    data = column.data
    v = path = part = 0
    path_off[0] = part_off[0] = geom_off[0] = 0
    for k in range(len(rows)):
        i = rows[k]
        p = column.offsets[i] + 5
        type_ = kind[i]
        single = type_ - 3 if type_ > 3 else type_
        parts = 1
        if type_ > 3:
            parts = _u4(data, p)
            p += 4
        first = v
        flaw[k] = 0
        dim[k] = single - 1
        for _ in range(parts):
            if type_ > 3:
                p += 5
            paths = 1
            if single == 3:
                paths = _u4(data, p)
                p += 4
            for ring in range(paths):
                n = 1
                if single > 1:
                    n = _u4(data, p)
                    p += 4
                xy_bytes[16 * v : 16 * (v + n)] = data[p : p + 16 * n]
                p += 16 * n
                start = v
                v += n
                if single == 1:
                    continue
                v = _drop_repeats(xy, start, v)
                if single == 3:
                    if not _turn_ring(xy, start, v, ring == 0):
                        flaw[k] = _RING
                elif v - start < 2:
                    flaw[k] = _RING
                path += 1
                path_off[path] = v
            if single > 1:
                part += 1
                part_off[part] = path
        if single == 1:
            path += 1
            path_off[path] = v
            part += 1
            part_off[part] = path
        geom_off[k + 1] = part
        if not _bounds_of(xy, first, v, bounds[k]):
            flaw[k] = _COORDINATE
    return v


def decode(
    column: WkbColumn, counts: Counts, rows: NDArray[np.int64]
) -> tuple[Shapes, NDArray[np.uint8]]:
    """Return the plain rows as flat geometries, and the flaw of each."""
    n = len(rows)
    xy = np.empty((int(counts.vertices[rows].sum()), 2))
    path_off = np.empty(int(counts.paths[rows].sum()) + 1, np.int32)
    part_off = np.empty(int(counts.parts[rows].sum()) + 1, np.int32)
    geom_off = np.empty(n + 1, np.int32)
    dim = np.empty(n, np.int8)
    bounds = np.empty((n, 4))
    flaw = np.empty(n, np.uint8)
    size = _fill(
        column, rows, counts.kind, xy, xy.reshape(-1).view(np.uint8),
        path_off, part_off, geom_off, dim, bounds, flaw,
    )  # fmt: skip
    arrays = (xy[:size], path_off, part_off, geom_off, dim, bounds)
    return Shapes(*(frozen(a) for a in arrays)), flaw
