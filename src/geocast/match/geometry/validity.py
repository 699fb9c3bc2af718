"""A quick proof that an area is valid; what it cannot prove, GEOS decides.

GEOS takes as long to validate a polygon as the kernels take to match it. Nearly all polygons are
valid in the plainest way, which is quick to prove:

1. no two edges touch, but for neighbours in a ring, and those only in the vertex they share;
2. so rings are simple and disjoint, and nest like a forest. Let the depth of a ring be how many
   rings lie around it. If every shell has an even depth, and every hole lies in the shell of its
   own part at a depth one greater, then the parent of a hole is its shell, and the parent of a
   shell is a hole or nothing; which is what valid means.

Edges are compared within the cells of a grid; a shape that makes too many comparisons is left to
GEOS, and so is one whose rings touch, which may be legal.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import APART, SHARED_VERTEX, UNSURE, orientation, segments_meet
from geocast.match.geometry.shapes import Shapes, path_range

__all__ = ["surely_valid"]

_EDGES_A_CELL: Final = 2
_EDGES_A_STRIP: Final = 4
_MOST_COMPARISONS: Final = 96  # for each edge, on average


@njit(cache=True)
def _fill_strips(
    shapes: Shapes,
    g: int,
    strips: int,
    off: NDArray[np.int64],
    edges: NDArray[np.int32],
    fill: bool,
) -> None:
    """Count the edges of g by strip (into the place behind), or write them."""
    bottom, top = shapes.bounds[g, 1], shapes.bounds[g, 3]
    scale = strips / (top - bottom) if top > bottom else 0.0
    first, last = path_range(shapes, g)
    for path in range(first, last):
        for v in range(shapes.path_off[path], shapes.path_off[path + 1] - 1):
            a, b = shapes.xy[v, 1], shapes.xy[v + 1, 1]
            lo = min(strips - 1, int((min(a, b) - bottom) * scale))
            hi = min(strips - 1, int((max(a, b) - bottom) * scale))
            for k in range(lo, hi + 1):
                if fill:
                    edges[off[k]] = v
                    off[k] += 1
                else:
                    off[k + 1] += 1


@njit(cache=True)
def _path_of(shapes: Shapes, first: int, last: int, v: int) -> int:
    lo, hi = first, last
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if shapes.path_off[middle] <= v:
            lo = middle
        else:
            hi = middle
    return lo


@njit(cache=True, inline="always")
def _neighbours(shapes: Shapes, first: int, last: int, v: int, w: int) -> bool:
    """Are edges v < w neighbours in one ring?"""
    if w == v + 1:
        return True
    path = _path_of(shapes, first, last, v)
    return v == shapes.path_off[path] and w == shapes.path_off[path + 1] - 2


@njit(cache=True)
def _grid(shapes: Shapes, g: int, n: int) -> tuple[int, int, float, float]:
    """Return columns, rows and cells per degree of a grid of about one cell for two edges."""
    width = shapes.bounds[g, 2] - shapes.bounds[g, 0]
    height = shapes.bounds[g, 3] - shapes.bounds[g, 1]
    cells = max(1.0, n / _EDGES_A_CELL)
    columns = max(1, min(4096, int(np.sqrt(cells * width / height)))) if height > 0 else 1
    rows = max(1, min(4096, int(cells / columns)))
    return (
        columns,
        rows,
        columns / width if width > 0 else 0.0,
        rows / height if height > 0 else 0.0,
    )


@njit(cache=True)
def _place_edges(
    xy: NDArray[np.float64], first_vertex: int, last_vertex: int, is_end: NDArray[np.bool_],
    west: float, south: float, columns: int, rows: int, sx: float, sy: float,
    off: NDArray[np.int64], edges: NDArray[np.int32], fill: bool,
) -> None:  # fmt: skip
    """Count edges by the cells that their boxes meet (into the place behind), or write them."""
    for v in range(first_vertex, last_vertex - 1):
        if is_end[v - first_vertex]:
            continue
        ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
        c0 = min(columns - 1, int((min(ax, bx) - west) * sx))
        c1 = min(columns - 1, int((max(ax, bx) - west) * sx))
        r0 = min(rows - 1, int((min(ay, by) - south) * sy))
        r1 = min(rows - 1, int((max(ay, by) - south) * sy))
        for row in range(r0, r1 + 1):
            for cell in range(row * columns + c0, row * columns + c1 + 1):
                if fill:
                    edges[off[cell]] = v
                    off[cell] += 1
                else:
                    off[cell + 1] += 1


@njit(cache=True)
def _edges_apart(shapes: Shapes, g: int, n: int) -> bool:
    """Check (1) cell by cell of a grid; two edges that meet do so in a cell that both are in."""
    first, last = path_range(shapes, g)
    v0, v1 = shapes.path_off[first], shapes.path_off[last]
    is_end = np.zeros(v1 - v0, np.bool_)
    for path in range(first, last):
        is_end[shapes.path_off[path + 1] - 1 - v0] = True
    columns, rows, sx, sy = _grid(shapes, g, n)
    west, south = shapes.bounds[g, 0], shapes.bounds[g, 1]
    off = np.zeros(columns * rows + 1, np.int64)
    none = np.empty(0, np.int32)
    _place_edges(shapes.xy, v0, v1, is_end, west, south, columns, rows, sx, sy, off, none, False)
    comparisons = 0
    for cell in range(columns * rows):
        comparisons += off[cell + 1] * off[cell + 1]
        off[cell + 1] += off[cell]
    if comparisons > _MOST_COMPARISONS * n:
        return False
    edges = np.empty(off[columns * rows], np.int32)
    _place_edges(shapes.xy, v0, v1, is_end, west, south, columns, rows, sx, sy, off, edges, True)
    start = 0
    for cell in range(columns * rows):
        if not _cell_apart(shapes, first, last, edges, start, off[cell]):
            return False
        start = off[cell]
    return True


@njit(cache=True)
def _folds(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> bool:
    """Does the path a-b-c turn back on itself, or is that not clear?"""
    if (ax - bx) * (cx - bx) + (ay - by) * (cy - by) <= 0.0:
        return False
    return orientation(ax, ay, bx, by, cx, cy) % 2 == 0


@njit(cache=True)
def _cell_apart(
    shapes: Shapes, first: int, last: int, edges: NDArray[np.int32], start: int, end: int
) -> bool:
    xy = shapes.xy
    for i in range(start, end):
        v = edges[i]
        ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
        x0, x1, y0, y1 = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
        for j in range(i + 1, end):
            w = edges[j]
            cx, cy, dx, dy = xy[w, 0], xy[w, 1], xy[w + 1, 0], xy[w + 1, 1]
            if (cx < x0 and dx < x0) or (cx > x1 and dx > x1):
                continue
            if (cy < y0 and dy < y0) or (cy > y1 and dy > y1):
                continue
            if w == v + 1 and bx == cx and by == cy:
                if _folds(ax, ay, bx, by, dx, dy):
                    return False
                continue
            how = segments_meet(ax, ay, bx, by, cx, cy, dx, dy, False)
            if how == APART:
                continue
            if how != SHARED_VERTEX or not _neighbours(shapes, first, last, v, w):
                return False
    return True


@njit(cache=True)
def _strips(shapes: Shapes, g: int, strips: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the edges of g by horizontal strip: offsets and edges."""
    off = np.zeros(strips + 2, np.int64)
    _fill_strips(shapes, g, strips, off, np.empty(0, np.int32), False)
    for k in range(strips):
        off[k + 1] += off[k]
    edges = np.empty(off[strips], np.int32)
    _fill_strips(shapes, g, strips, off, edges, True)
    for k in range(strips, 0, -1):
        off[k] = off[k - 1]
    off[0] = 0
    return off, edges


@njit(cache=True)
def _rings_nest(shapes: Shapes, g: int, n: int) -> bool:
    """Check (2), by a ray from the first vertex of each ring."""
    strips = max(1, min(1 << 16, n // _EDGES_A_STRIP))
    off, edges = _strips(shapes, g, strips)
    first, last = path_range(shapes, g)
    bottom, top = shapes.bounds[g, 1], shapes.bounds[g, 3]
    scale = strips / (top - bottom) if top > bottom else 0.0
    depth = np.zeros(last - first, np.int64)
    around = np.zeros(last - first, np.bool_)
    for part in range(shapes.geom_off[g], shapes.geom_off[g + 1]):
        shell = shapes.part_off[part]
        for path in range(shell, shapes.part_off[part + 1]):
            v = shapes.path_off[path]
            x, y = shapes.xy[v, 0], shapes.xy[v, 1]
            strip = min(strips - 1, int((y - bottom) * scale))
            around[:] = False
            for k in range(off[strip], off[strip + 1]):
                side = _right_of(shapes.xy, edges[k], x, y)
                if side == UNSURE:
                    return False
                if side == 1:
                    ring = _path_of(shapes, first, last, edges[k]) - first
                    around[ring] = not around[ring]
            around[path - first] = False
            depth[path - first] = around.sum()
            if path == shell:
                if depth[path - first] % 2 == 1:
                    return False
            elif not around[shell - first] or depth[path - first] != depth[shell - first] + 1:
                return False
    return True


@njit(cache=True)
def _right_of(xy: NDArray[np.float64], v: int, x: float, y: float) -> int:
    """Does the ray from (x, y) to the right cross edge v? 1, 0, or UNSURE; half-open rule."""
    ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
    if (ay <= y) == (by <= y) or max(ax, bx) < x:
        return 0
    if min(ax, bx) > x:
        return 1
    if (ax == x and ay == y) or (bx == x and by == y):
        return 0  # an edge of the ring's own; no other comes here
    side = orientation(ax, ay, bx, by, x, y)
    if side == UNSURE or side == 0:
        return UNSURE
    return 1 if (by > ay) == (side > 0) else 0


@njit(cache=True, nogil=True)
def surely_valid(shapes: Shapes, flaw: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return for each geometry whether it is proved to be valid, its rings apart.

    Points always are; lines are if they have two different vertices, which decoding has checked.
    What decoding found a flaw in is not proved.
    """
    sure = flaw == 0
    for g in range(len(shapes.dim)):
        if shapes.dim[g] < 2 or not sure[g]:
            continue
        first, last = path_range(shapes, g)
        n = shapes.path_off[last] - shapes.path_off[first]
        sure[g] = _edges_apart(shapes, g, n) and (last - first == 1 or _rings_nest(shapes, g, n))
    return sure
