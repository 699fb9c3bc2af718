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

from geocast.match.geometry.blocks import BLOCK, block_boxes
from geocast.match.geometry.exact import APART, UNSURE, orientation, segments_meet
from geocast.match.geometry.shapes import Shapes, path_range

__all__ = ["surely_valid"]

_EDGES_A_CELL: Final = 0.5
_MOST_COMPARISONS: Final = 96  # for each edge, on average
_NO_EDGE: Final = -2  # the last vertex of a ring starts no edge
_FEW: Final = 24  # vertices of a ring whose edges are sooner compared each with each than by cells


@njit(cache=True)
def _grid(shapes: Shapes, g: int, n: int) -> tuple[int, int, float, float]:
    """Return columns, rows and cells per degree of a grid of about two cells an edge."""
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
def _span_edges(
    xy: NDArray[np.float64], v0: int, v1: int, closing: NDArray[np.int32],
    west: float, south: float, columns: int, rows: int, sx: float, sy: float,
    span: NDArray[np.int32], off: NDArray[np.int64],
) -> None:  # fmt: skip
    """Set the cells that each edge's box meets, and count edges by cell (into the place behind)."""
    ax, ay = xy[v0, 0], xy[v0, 1]
    column, row = min(columns - 1, int((ax - west) * sx)), min(rows - 1, int((ay - south) * sy))
    for v in range(v0, v1 - 1):
        bx, by = xy[v + 1, 0], xy[v + 1, 1]
        c, r = min(columns - 1, int((bx - west) * sx)), min(rows - 1, int((by - south) * sy))
        k = v - v0
        span[k, 0], span[k, 1] = min(c, column), max(c, column)
        span[k, 2], span[k, 3] = min(r, row), max(r, row)
        column, row = c, r
        if closing[k] == _NO_EDGE:
            span[k, 3] = -1
        for at in range(span[k, 2], span[k, 3] + 1):
            for cell in range(at * columns + span[k, 0], at * columns + span[k, 1] + 1):
                off[cell + 1] += 1


@njit(cache=True)
def _fill_cells(
    span: NDArray[np.int32], v0: int, v1: int, columns: int,
    off: NDArray[np.int64], edges: NDArray[np.int32],
) -> None:  # fmt: skip
    for v in range(v0, v1 - 1):
        k = v - v0
        for at in range(span[k, 2], span[k, 3] + 1):
            for cell in range(at * columns + span[k, 0], at * columns + span[k, 1] + 1):
                edges[off[cell]] = v
                off[cell] += 1


@njit(cache=True)
def _few_edges_apart(xy: NDArray[np.float64], a: int, b: int) -> bool:
    """Check (1) for one ring, of the vertices a to b, edge by edge."""
    if not _turns(xy, a, b):
        return False
    for v in range(a, b - 2):
        ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
        x0, x1, y0, y1 = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
        for w in range(v + 2, b - 1 if v == a else b):
            cx, cy, dx, dy = xy[w, 0], xy[w, 1], xy[w + 1, 0], xy[w + 1, 1]
            beside = (max(cx, dx) < x0) | (min(cx, dx) > x1)
            if beside | (max(cy, dy) < y0) | (min(cy, dy) > y1):
                continue
            if segments_meet(ax, ay, bx, by, cx, cy, dx, dy, False) != APART:
                return False
    return True


@njit(cache=True)
def _edges_apart(shapes: Shapes, g: int, n: int) -> bool:
    """Check (1) cell by cell of a grid; two edges that meet do so in a cell that both are in."""
    xy, path_off = shapes.xy, shapes.path_off
    first, last = path_range(shapes, g)
    v0, v1 = path_off[first], path_off[last]
    closing = np.full(v1 - v0, -1, np.int32)  # by a ring's first edge, its last
    chain = np.empty(v1 - v0, np.int32)  # by edge, the end of the monotone chain it belongs to
    for path in range(first, last):
        a, b = path_off[path], path_off[path + 1] - 1
        if not _turns(xy, a, b):
            return False
        closing[a - v0] = b - 1
        closing[b - v0] = _NO_EDGE
        _find_chains(xy, a, b, v0, chain)
    columns, rows, sx, sy = _grid(shapes, g, n)
    west, south = shapes.bounds[g, 0], shapes.bounds[g, 1]
    off = np.zeros(columns * rows + 1, np.int64)
    span = np.empty((v1 - v0, 4), np.int32)
    _span_edges(xy, v0, v1, closing, west, south, columns, rows, sx, sy, span, off)
    comparisons = 0
    for cell in range(columns * rows):
        comparisons += off[cell + 1] * off[cell + 1]
        off[cell + 1] += off[cell]
    if comparisons > _MOST_COMPARISONS * n:
        return False
    edges = np.empty(off[columns * rows], np.int32)
    _fill_cells(span, v0, v1, columns, off, edges)
    return _cells_apart(xy, v0, closing, chain, edges, off[:-1])


@njit(cache=True)
def _turns(xy: NDArray[np.float64], a: int, b: int) -> bool:
    """Do the vertices a to b, which close a ring, surely never turn back along an edge?"""
    px, py = xy[b - 1, 0], xy[b - 1, 1]
    for v in range(a, b):
        x, y = xy[v, 0], xy[v, 1]
        nx, ny = xy[v + 1, 0], xy[v + 1, 1]
        if (px - x) * (nx - x) + (py - y) * (ny - y) >= 0.0:
            side = orientation(px, py, x, y, nx, ny)
            if side == UNSURE or side == 0:
                return False
        px, py = x, y
    return True


@njit(cache=True)
def _find_chains(
    xy: NDArray[np.float64], a: int, b: int, v0: int, chain: NDArray[np.int32]
) -> None:
    """Set for every edge from a to b the last edge of its chain, counted as they are.

    Along a chain neither x nor y turns back, so its edges meet only as neighbours.
    """
    end, quarter = b - 1, -1
    for v in range(b - 1, a - 1, -1):
        east, north = xy[v + 1, 0] >= xy[v, 0], xy[v + 1, 1] >= xy[v, 1]
        own = 2 * east + north
        if own != quarter:
            end, quarter = v, own
        chain[v - v0] = end


@njit(cache=True)
def _cells_apart(
    xy: NDArray[np.float64], v0: int, closing: NDArray[np.int32], chain: NDArray[np.int32],
    edges: NDArray[np.int32], ends: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Do edges that are no neighbours stay apart in every cell? ends[cell] ends its edges."""
    start = 0
    for end in ends:
        for i in range(start, end - 1):
            v = edges[i]
            ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
            x0, x1, y0, y1 = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
            later = i + 1
            while later < end and edges[later] <= chain[v - v0]:
                later += 1
            for j in range(later, end):
                w = edges[j]
                cx, cy, dx, dy = xy[w, 0], xy[w, 1], xy[w + 1, 0], xy[w + 1, 1]
                beside = (max(cx, dx) < x0) | (min(cx, dx) > x1)
                if beside | (max(cy, dy) < y0) | (min(cy, dy) > y1):  # one jump, not four
                    continue
                if w == v + 1 or closing[v - v0] == w:
                    continue
                if segments_meet(ax, ay, bx, by, cx, cy, dx, dy, False) != APART:
                    return False
        start = end
    return True


@njit(cache=True)
def _rings_nest(shapes: Shapes, g: int, blocks: NDArray[np.float64]) -> bool:
    """Check (2), by a ray from the first vertex of each ring."""
    xy, path_off = shapes.xy, shapes.path_off
    first, last = path_range(shapes, g)
    boxes = _ring_boxes(xy, path_off, first, last)
    depth = np.zeros(last - first, np.int64)
    for part in range(shapes.geom_off[g], shapes.geom_off[g + 1]):
        shell = shapes.part_off[part]
        for path in range(shell, shapes.part_off[part + 1]):
            x, y = xy[path_off[path], 0], xy[path_off[path], 1]
            in_shell = False
            for other in range(first, last):
                if other == path or not _in_box(boxes[other - first], x, y):
                    continue
                place = _in_ring(xy, blocks, path_off[other], path_off[other + 1] - 1, x, y)
                if place == UNSURE:
                    return False
                depth[path - first] += place
                in_shell = in_shell or (place == 1 and other == shell)
            if path == shell:
                if depth[path - first] % 2 == 1:
                    return False
            elif not in_shell or depth[path - first] != depth[shell - first] + 1:
                return False
    return True


@njit(cache=True)
def _ring_boxes(
    xy: NDArray[np.float64], path_off: NDArray[np.int32], first: int, last: int
) -> NDArray[np.float64]:
    boxes = np.empty((last - first, 4))
    for path in range(first, last):
        x0 = x1 = xy[path_off[path], 0]
        y0 = y1 = xy[path_off[path], 1]
        for v in range(path_off[path] + 1, path_off[path + 1]):
            x0, x1 = min(x0, xy[v, 0]), max(x1, xy[v, 0])
            y0, y1 = min(y0, xy[v, 1]), max(y1, xy[v, 1])
        box = boxes[path - first]
        box[0], box[1], box[2], box[3] = x0, y0, x1, y1
    return boxes


@njit(cache=True, inline="always")
def _in_box(box: NDArray[np.float64], x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


@njit(cache=True)
def _in_ring(
    xy: NDArray[np.float64], blocks: NDArray[np.float64], a: int, b: int, x: float, y: float
) -> int:
    """Does (x, y), which is on no edge, lie in the ring of vertices a to b? 1, 0, or UNSURE."""
    crossings, v = 0, a
    while v < b:
        k = v // BLOCK
        end = min(b, (k + 1) * BLOCK)
        if blocks[k, 1] <= y <= blocks[k, 3] and x <= blocks[k, 2]:
            for w in range(v, end):
                if (xy[w, 1] <= y) != (xy[w + 1, 1] <= y):
                    crosses = _right_of(xy, w, x, y)
                    if crosses == UNSURE:
                        return UNSURE
                    crossings += crosses
        v = end
    return crossings & 1


@njit(cache=True)
def _right_of(xy: NDArray[np.float64], v: int, x: float, y: float) -> int:
    """Does the ray from (x, y) to the right cross edge v, which spans y? 1, 0, or UNSURE."""
    ax, ay, bx, by = xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1]
    if max(ax, bx) < x:
        return 0
    if min(ax, bx) > x:
        return 1
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
    blocks = block_boxes(shapes.xy)
    for g in range(len(shapes.dim)):
        if shapes.dim[g] < 2 or not sure[g]:
            continue
        first, last = path_range(shapes, g)
        v0, v1 = shapes.path_off[first], shapes.path_off[last]
        if last - first == 1 and v1 - v0 <= _FEW:
            sure[g] = _few_edges_apart(shapes.xy, v0, v1 - 1)
            continue
        sure[g] = _edges_apart(shapes, g, v1 - v0) and (
            last - first == 1 or _rings_nest(shapes, g, blocks)
        )
    return sure
