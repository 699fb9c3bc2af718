"""Where points lie in a publication: by its picture, or by its edges in horizontal strips.

Strips are built only for publications that some point on the rim of the picture, or some edge that
is to be compared, needs them for. With about four edges a strip, either costs a handful of
comparisons.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import UNSURE, on_segment, orientation
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import INSIDE, ON, OUTSIDE, UNKNOWN
from geocast.match.relate.place import is_line_end
from geocast.match.relate.raster import point_place
from geocast.match.relate.work import Work

__all__ = ["forget_strips", "place_in_publication", "strips_between"]

# Work.strip_frame: bottom, strips per degree, number of strips (0: not built, -1: too many)


@njit(cache=True, forceinline=True, _nrt=False)
def forget_strips(work: Work) -> None:
    """Say that the strips belong to another publication."""
    work.strip_frame[2] = 0.0


@njit(cache=True, _nrt=False)
def _each_strip(
    pub: Shapes, q: int, fill: bool, frame: NDArray[np.float64], off: NDArray[np.int64],
    edges: NDArray[np.int32],
) -> None:  # fmt: skip
    """Count the edges by strip (into the slot behind), or write them."""
    bottom, scale, strips = frame[0], frame[1], int(frame[2])
    first, last = path_range(pub, q)
    for path in range(first, last):
        for v in range(pub.path_off[path], pub.path_off[path + 1] - 1):
            a, b = pub.xy[v, 1], pub.xy[v + 1, 1]
            lo = min(strips - 1, int((min(a, b) - bottom) * scale))
            hi = min(strips - 1, int((max(a, b) - bottom) * scale))
            for k in range(lo, hi + 1):
                if fill:
                    edges[off[k]] = v
                    off[k] += 1
                else:
                    off[k + 1] += 1


@njit(cache=True, _nrt=False)
def _build_strips(
    pub: Shapes, q: int, frame: NDArray[np.float64], off: NDArray[np.int64],
    edges: NDArray[np.int32],
) -> bool:  # fmt: skip
    """Sort the edges of publication q into strips; False where they do not fit."""
    first, last = path_range(pub, q)
    count = pub.path_off[last] - pub.path_off[first]
    strips = max(1, min(len(off) - 2, count // 4))
    height = pub.bounds[q, 3] - pub.bounds[q, 1]
    frame[0] = pub.bounds[q, 1]
    frame[1] = strips / height if height > 0 else 0.0
    frame[2] = strips
    off[: strips + 1] = 0
    _each_strip(pub, q, False, frame, off, edges)
    for k in range(strips):
        off[k + 1] += off[k]
    if off[strips] > len(edges):
        frame[2] = -1.0
        return False
    _each_strip(pub, q, True, frame, off, edges)
    for k in range(strips, 0, -1):
        off[k] = off[k - 1]
    off[0] = 0
    return True


@njit(cache=True, forceinline=True, _nrt=False)
def _have_strips(pub: Shapes, q: int, work: Work) -> bool:
    """Have the strips of publication q at hand; False where it has too many edges for them."""
    strips = work.strip_frame[2]
    if strips == 0.0:
        return _build_strips(pub, q, work.strip_frame, work.strip_off, work.strip_edge)
    return strips > 0.0


@njit(cache=True)
def _place_in_area(
    xy: NDArray[np.float64], edges: NDArray[np.int32], lo: int, hi: int, x: float, y: float
) -> int:
    """A ray to the right with the half-open rule over the edges of one strip."""
    inside = False
    for k in range(lo, hi):
        v = edges[k]
        ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
        if (ay <= y) != (by <= y):
            if ax < x and bx < x:
                continue
            if ax > x and bx > x:
                inside = not inside
                continue
            s = orientation(ax, ay, bx, by, x, y)
            if s == 0:
                return ON
            if s == UNSURE:
                return UNKNOWN
            if (by > ay) == (s > 0):
                inside = not inside
        elif ay == y and by == y:
            if min(ax, bx) <= x <= max(ax, bx):
                return ON
        elif (ax == x and ay == y) or (bx == x and by == y):
            return ON
    return INSIDE if inside else OUTSIDE


@njit(cache=True)
def _place_on_line(
    pub: Shapes, q: int, edges: NDArray[np.int32], lo: int, hi: int, x: float, y: float
) -> int:
    unknown = False
    for k in range(lo, hi):
        v = edges[k]
        s = on_segment(pub.xy[v, 0], pub.xy[v, 1], pub.xy[v + 1, 0], pub.xy[v + 1, 1], x, y)
        if s == 1:
            return ON if is_line_end(pub, q, x, y) else INSIDE
        unknown = unknown or s == UNSURE
    return UNKNOWN if unknown else OUTSIDE


@njit(cache=True)
def _strip_of(frame: NDArray[np.float64], y: float) -> int:
    """Return the strip at height y, which is within the bounds."""
    return min(int(frame[2]) - 1, int((y - frame[0]) * frame[1]))


@njit(cache=True, forceinline=True, _nrt=False)
def place_in_publication(pub: Shapes, q: int, x: float, y: float, work: Work) -> int:
    """Return OUTSIDE, INSIDE, ON or UNKNOWN for (x, y) in publication q, as `draw` left it."""
    place = point_place(work.frame, work.rim, work.inside, x, y)
    if place == UNKNOWN and _have_strips(pub, q, work):
        k = _strip_of(work.strip_frame, y)
        lo, hi = work.strip_off[k], work.strip_off[k + 1]
        if pub.dim[q] == 2:
            place = _place_in_area(pub.xy, work.strip_edge, lo, hi, x, y)
        else:
            place = _place_on_line(pub, q, work.strip_edge, lo, hi, x, y)
    return place


@njit(cache=True, forceinline=True, _nrt=False)
def strips_between(pub: Shapes, q: int, low: float, high: float, work: Work) -> tuple[int, int]:
    """Return where in Work.strip_edge those edges begin and end that come near two heights.

    Some stand there several times. The heights are within the bounds. The end is negative where
    publication q has too many edges for strips.
    """
    if not _have_strips(pub, q, work):
        return 0, -1
    first, last = _strip_of(work.strip_frame, low), _strip_of(work.strip_frame, high)
    return work.strip_off[first], work.strip_off[last + 1]
