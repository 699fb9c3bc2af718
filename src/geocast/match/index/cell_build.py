"""Building the cell index: root cells first, then level by level, until leaves are small.

One level at a time, all cells at once, in two passes: count, then fill. `Level` holds the cells
that geometries' edges come near; what a geometry's interior covers wholly goes to the inner lists
at once and is never divided.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import UNSURE, orientation
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.frame import (
    FAN,
    FAN_BITS,
    INDEX_MARGIN,
    ORIGIN,
    REFERENCE_X,
    REFERENCE_Y,
    ROOT_LEVEL,
    segment_meets_box,
    side,
)
from geocast.match.index.trie import INSIDE, NO_AREA, UNKNOWN, crossing

__all__ = ["Inner", "Level", "divide", "root_level", "runs_of_leaves"]

_CHILDREN: Final = FAN * FAN


class Level(NamedTuple):
    """Cells of one level that edges come near.

    Cell c is slot[c] at (column[c], row[c]); its entries are cell_off[c]:cell_off[c + 1]. Entry k
    is geometry[k] with parity[k] at the cell's reference point and the edges edge_off[k]:[k + 1].
    An edge is numbered by its first vertex; a point is an edge whose ends are the same vertex.
    """

    slot: NDArray[np.int64]
    column: NDArray[np.int64]
    row: NDArray[np.int64]
    cell_off: NDArray[np.int64]
    geometry: NDArray[np.int32]
    parity: NDArray[np.uint8]
    edge_off: NDArray[np.int64]
    edge: NDArray[np.int32]


class Inner(NamedTuple):
    """Cells that a geometry covers wholly with its interior."""

    slot: NDArray[np.int64]
    geometry: NDArray[np.int32]


@njit(cache=True)
def _cells_of_edge(
    xy: NDArray[np.float64], a: int, b: int, i0: int, j0: int, w: int, out: NDArray[np.int64]
) -> int:
    """Write the root cells (numbered in a window at i0, j0 of width w) near the edge a-b."""
    h = side(ROOT_LEVEL)
    half = h * 0.5 + INDEX_MARGIN
    ax, ay, bx, by = xy[a, 0], xy[a, 1], xy[b, 0], xy[b, 1]
    c0 = int(np.floor((min(ax, bx) - INDEX_MARGIN - ORIGIN) / h))
    c1 = int(np.floor((max(ax, bx) + INDEX_MARGIN - ORIGIN) / h))
    r0 = int(np.floor((min(ay, by) - INDEX_MARGIN - ORIGIN) / h))
    r1 = int(np.floor((max(ay, by) + INDEX_MARGIN - ORIGIN) / h))
    n = 0
    for j in range(r0, r1 + 1):
        for i in range(c0, c1 + 1):
            x, y = ORIGIN + (i + 0.5) * h, ORIGIN + (j + 0.5) * h
            if (c0 == c1 and r0 == r1) or segment_meets_box(ax, ay, bx, by, x, y, half):
                out[n] = (j - j0) * w + (i - i0)
                n += 1
    return n


@njit(cache=True)
def _window(shapes: Shapes, g: int) -> tuple[int, int, int, int]:
    """Return the root cells near the bounds of g: first column and row, width, height."""
    h = side(ROOT_LEVEL)
    box = shapes.bounds[g]
    i0 = int(np.floor((box[0] - INDEX_MARGIN - ORIGIN) / h))
    j0 = int(np.floor((box[1] - INDEX_MARGIN - ORIGIN) / h))
    i1 = int(np.floor((box[2] + INDEX_MARGIN - ORIGIN) / h))
    j1 = int(np.floor((box[3] + INDEX_MARGIN - ORIGIN) / h))
    return i0, j0, i1 - i0 + 1, j1 - j0 + 1


@njit(cache=True)
def _count_edges(
    shapes: Shapes,
    g: int,
    i0: int,
    j0: int,
    w: int,
    near: NDArray[np.int64],
    scratch: NDArray[np.int64],
) -> None:
    step = 1 if shapes.dim[g] > 0 else 0
    first, last = path_range(shapes, g)
    for path in range(first, last):
        for v in range(shapes.path_off[path], shapes.path_off[path + 1] - step):
            for k in range(_cells_of_edge(shapes.xy, v, v + step, i0, j0, w, scratch)):
                near[scratch[k]] += 1


@njit(cache=True)
def _left_of(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Is the edge, which spans py, left of p? 1, 0, or UNKNOWN."""
    if px >= max(ax, bx):
        return 1
    if px < min(ax, bx):
        return 0
    s = orientation(ax, ay, bx, by, px, py)
    if s == 0 or s == UNSURE:
        return UNKNOWN
    return 1 if (s == -1) == (by > ay) else 0


@njit(cache=True)
def _root_parities(
    shapes: Shapes, g: int, i0: int, j0: int, w: int, n_rows: int, parity: NDArray[np.uint8]
) -> None:
    """Set the parity of each reference point in the window: a ray to the left, half-open rule."""
    if shapes.dim[g] < 2:
        return
    h = side(ROOT_LEVEL)
    xy = shapes.xy
    first, last = path_range(shapes, g)
    for j in range(n_rows):
        py = ORIGIN + (j0 + j + REFERENCE_Y) * h
        for path in range(first, last):
            for v in range(shapes.path_off[path], shapes.path_off[path + 1] - 1):
                ay, by = xy[v, 1], xy[v + 1, 1]
                if (ay <= py) == (by <= py):
                    continue
                for i in range(w):
                    px = ORIGIN + (i0 + i + REFERENCE_X) * h
                    s = _left_of(xy[v, 0], ay, xy[v + 1, 0], by, px, py)
                    if s == UNKNOWN:
                        parity[j * w + i] |= UNKNOWN
                    else:
                        parity[j * w + i] ^= s
    for c in range(w * n_rows):
        parity[c] = min(parity[c], UNKNOWN)


@njit(cache=True)
def _root_pass(
    shapes: Shapes, fill: bool, sizes: NDArray[np.int64], level: Level, inner: Inner
) -> None:
    """Count (fill=False) or write the entries of all geometries in the root cells."""
    across = 1 << ROOT_LEVEL
    entries = edges = inners = 0
    for g in range(len(shapes.dim)):
        i0, j0, w, n_rows = _window(shapes, g)
        near = np.zeros(w * n_rows, np.int64)
        scratch = np.empty(w * n_rows, np.int64)
        parity = np.zeros(w * n_rows, np.uint8)
        _count_edges(shapes, g, i0, j0, w, near, scratch)
        _root_parities(shapes, g, i0, j0, w, n_rows, parity)
        for c in range(w * n_rows):
            slot = (j0 + c // w) * across + i0 + c % w
            if near[c] > 0 or parity[c] == UNKNOWN:
                if fill:
                    level.slot[entries] = slot
                    level.geometry[entries] = g
                    level.parity[entries] = parity[c]
                    level.edge_off[entries] = edges
                entries += 1
                n = near[c]
                near[c] = edges
                edges += n
            elif parity[c] == INSIDE:
                if fill:
                    inner.slot[inners] = slot
                    inner.geometry[inners] = g
                inners += 1
        if fill:
            _fill_edges(shapes, g, i0, j0, w, near, scratch, level.edge)
    if fill:
        level.edge_off[entries] = edges
    sizes[0], sizes[1], sizes[2] = entries, edges, inners


@njit(cache=True)
def _fill_edges(
    shapes: Shapes, g: int, i0: int, j0: int, w: int,
    position: NDArray[np.int64], scratch: NDArray[np.int64], edge: NDArray[np.int32],
) -> None:  # fmt: skip
    step = 1 if shapes.dim[g] > 0 else 0
    first, last = path_range(shapes, g)
    for path in range(first, last):
        for v in range(shapes.path_off[path], shapes.path_off[path + 1] - step):
            for k in range(_cells_of_edge(shapes.xy, v, v + step, i0, j0, w, scratch)):
                edge[position[scratch[k]]] = v
                position[scratch[k]] += 1


def _empty_level(cells: int, entries: int, edges: int) -> Level:
    return Level(
        np.empty(cells, np.int64),
        np.empty(cells, np.int64),
        np.empty(cells, np.int64),
        np.zeros(cells + 1, np.int64),
        np.empty(entries, np.int32),
        np.empty(entries, np.uint8),
        np.zeros(entries + 1, np.int64),
        np.empty(edges, np.int32),
    )


def root_level(shapes: Shapes) -> tuple[Level, Inner]:
    """Return the root cells that edges come near, and those wholly inside a geometry."""
    sizes = np.zeros(3, np.int64)
    nothing = Inner(np.empty(0, np.int64), np.empty(0, np.int32))
    _root_pass(shapes, False, sizes, _empty_level(0, 0, 0), nothing)
    entries, edges, inners = (int(n) for n in sizes)
    raw = _empty_level(entries, entries, edges)  # a cell an entry, before grouping
    inner = Inner(np.empty(inners, np.int64), np.empty(inners, np.int32))
    _root_pass(shapes, True, sizes, raw, inner)
    return _group_by_cell(raw), inner


def _group_by_cell(raw: Level) -> Level:
    """Bring entries of one cell together; geometries stay in order within a cell."""
    order = np.argsort(raw.slot, kind="stable")
    slots, first = np.unique(raw.slot[order], return_index=True)
    lengths = np.diff(raw.edge_off)[order]
    edge_off = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    source = np.repeat(raw.edge_off[:-1][order] - edge_off[:-1], lengths) + np.arange(edge_off[-1])
    across = 1 << ROOT_LEVEL
    return Level(
        slots,
        slots % across,
        slots // across,
        np.append(first, len(order)).astype(np.int64),
        raw.geometry[order],
        raw.parity[order],
        edge_off,
        raw.edge[source],
    )


@njit(cache=True, inline="always")
def _child_mask(xy: NDArray[np.float64], a: int, b: int, x0: float, y0: float, h: float) -> int:
    """Return the children (bit row * FAN + column) of the cell at x0, y0 near the edge a-b."""
    ax, ay, bx, by = xy[a, 0], xy[a, 1], xy[b, 0], xy[b, 1]
    c0 = max(0, int(np.floor((min(ax, bx) - INDEX_MARGIN - x0) / h)))
    c1 = min(FAN - 1, int(np.floor((max(ax, bx) + INDEX_MARGIN - x0) / h)))
    r0 = max(0, int(np.floor((min(ay, by) - INDEX_MARGIN - y0) / h)))
    r1 = min(FAN - 1, int(np.floor((max(ay, by) + INDEX_MARGIN - y0) / h)))
    if c0 == c1 and r0 == r1:
        return 1 << (r0 * FAN + c0)
    half = h * 0.5 + INDEX_MARGIN
    mask = 0
    for j in range(r0, r1 + 1):
        for i in range(c0, c1 + 1):
            if segment_meets_box(ax, ay, bx, by, x0 + (i + 0.5) * h, y0 + (j + 0.5) * h, half):
                mask |= 1 << (j * FAN + i)
    return mask


@njit(cache=True)
def _carry_parity(
    xy: NDArray[np.float64], level: Level, k: int, masks: NDArray[np.uint16], wanted: int,
    parity: int, rx: float, ry: float, px: float, py: float,
) -> int:  # fmt: skip
    """Carry entry k's parity from r to p across its edges that lie in the wanted children."""
    if parity == UNKNOWN:
        return UNKNOWN
    for t in range(level.edge_off[k], level.edge_off[k + 1]):
        if masks[t] & wanted == 0:
            continue
        v = level.edge[t]
        a_side = orientation(rx, ry, px, py, xy[v, 0], xy[v, 1])
        b_side = orientation(rx, ry, px, py, xy[v + 1, 0], xy[v + 1, 1])
        c = crossing(xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1], rx, ry, px, py, a_side, b_side)
        if c >= UNKNOWN:  # or ON
            return UNKNOWN
        parity ^= c
    return parity


@njit(cache=True)
def _child_parities(
    xy: NDArray[np.float64], level: Level, k: int, masks: NDArray[np.uint16], near: int,
    x0: float, y0: float, h: float, out: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Set the parity at each child's reference point.

    The path goes from the parent's reference point to child 0's and on from child to neighbour:
    between two neighbours it stays in their union, so only the edges of those two can be crossed.
    """
    rx, ry = x0 + REFERENCE_X * h * FAN, y0 + REFERENCE_Y * h * FAN
    everywhere = 0xFFFF
    column_parity = 0
    for j in range(FAN):
        y = y0 + (j + REFERENCE_Y) * h
        x = x0 + REFERENCE_X * h
        child = j * FAN
        if j == 0:
            column_parity = _carry_parity(
                xy, level, k, masks, everywhere, level.parity[k], rx, ry, x, y
            )
        else:
            pair = (1 << child) | (1 << (child - FAN))
            if near & pair:
                column_parity = _carry_parity(
                    xy, level, k, masks, pair, column_parity, x, y - h, x, y
                )
        parity = column_parity
        for i in range(FAN):
            x = x0 + (i + REFERENCE_X) * h
            child = j * FAN + i
            if i > 0:
                pair = (1 << child) | (1 << (child - 1))
                if near & pair:
                    parity = _carry_parity(xy, level, k, masks, pair, parity, x - h, y, x, y)
            if parity == UNKNOWN:
                parity = _carry_parity(
                    xy, level, k, masks, everywhere, level.parity[k], rx, ry, x, y
                )
            out[child] = parity


@njit(cache=True)
def _classify_children(
    shapes: Shapes, level: Level, depth: int, split: NDArray[np.bool_],
    masks: NDArray[np.uint16], near: NDArray[np.uint16], parity: NDArray[np.uint8],
    sizes: NDArray[np.int64],
) -> None:  # fmt: skip
    """For each entry of a cell to be divided: which children its edges come near, and parities.

    sizes counts what the fill pass will write: cells, entries, edges, inner cells.
    """
    h = side(depth + FAN_BITS)
    for c in range(len(level.slot)):
        if not split[c]:
            continue
        x0 = ORIGIN + level.column[c] * side(depth)
        y0 = ORIGIN + level.row[c] * side(depth)
        occupied = 0
        for k in range(level.cell_off[c], level.cell_off[c + 1]):
            step = 1 if shapes.dim[level.geometry[k]] > 0 else 0
            seen = 0
            for t in range(level.edge_off[k], level.edge_off[k + 1]):
                v = level.edge[t]
                mask = _child_mask(shapes.xy, v, v + step, x0, y0, h)
                masks[t] = mask
                seen |= mask
                while mask:
                    mask &= mask - 1
                    sizes[2] += 1
            if shapes.dim[level.geometry[k]] == 2:
                _child_parities(shapes.xy, level, k, masks, seen, x0, y0, h, parity[k])
                for child in range(_CHILDREN):
                    if parity[k, child] == UNKNOWN:
                        seen |= 1 << child
                    elif parity[k, child] == INSIDE and not (seen >> child) & 1:
                        sizes[3] += 1
            near[k] = seen
            occupied |= seen
            while seen:
                seen &= seen - 1
                sizes[1] += 1
        while occupied:
            occupied &= occupied - 1
            sizes[0] += 1


@njit(cache=True)
def _fill_children(
    level: Level, split: NDArray[np.bool_], first_slot: int, masks: NDArray[np.uint16],
    near: NDArray[np.uint16], parity: NDArray[np.uint8], below: Level, inner: Inner,
) -> None:  # fmt: skip
    cells = entries = edges = inners = divided = 0
    for c in range(len(level.slot)):
        if not split[c]:
            continue
        base = first_slot + divided * _CHILDREN
        divided += 1
        for child in range(_CHILDREN):
            before = entries
            for k in range(level.cell_off[c], level.cell_off[c + 1]):
                if (near[k] >> child) & 1:
                    below.geometry[entries] = level.geometry[k]
                    below.parity[entries] = parity[k, child]
                    below.edge_off[entries] = edges
                    for t in range(level.edge_off[k], level.edge_off[k + 1]):
                        if (masks[t] >> child) & 1:
                            below.edge[edges] = level.edge[t]
                            edges += 1
                    entries += 1
                elif parity[k, child] == INSIDE:
                    inner.slot[inners] = base + child
                    inner.geometry[inners] = level.geometry[k]
                    inners += 1
            if entries > before:
                below.slot[cells] = base + child
                below.column[cells] = level.column[c] * FAN + child % FAN
                below.row[cells] = level.row[c] * FAN + child // FAN
                below.cell_off[cells] = before
                cells += 1
    below.cell_off[cells] = entries
    below.edge_off[entries] = edges


def divide(
    shapes: Shapes, level: Level, depth: int, split: NDArray[np.bool_], first_slot: int
) -> tuple[Level, Inner]:
    """Divide the chosen cells of a level into children, numbered from first_slot."""
    masks = np.zeros(len(level.edge), np.uint16)
    near = np.zeros(len(level.geometry), np.uint16)
    parity = np.zeros((len(level.geometry), _CHILDREN), np.uint8)
    sizes = np.zeros(4, np.int64)
    _classify_children(shapes, level, depth, split, masks, near, parity, sizes)
    cells, entries, edges, inners = (int(n) for n in sizes)
    below = _empty_level(cells, entries, edges)
    inner = Inner(np.empty(inners, np.int64), np.empty(inners, np.int32))
    _fill_children(level, split, first_slot, masks, near, parity, below, inner)
    return below, inner


@njit(cache=True)
def _write_runs(
    dim: NDArray[np.int8], level: Level, leaf: NDArray[np.bool_], fill: bool,
    slot: NDArray[np.int64], head: NDArray[np.uint32], runs_off: NDArray[np.int64],
    runs: NDArray[np.int32],
) -> tuple[int, int]:  # fmt: skip
    entries = n = 0
    for c in range(len(level.slot)):
        if not leaf[c]:
            continue
        for k in range(level.cell_off[c], level.cell_off[c + 1]):
            if fill:
                slot[entries] = level.slot[c]
                parity = level.parity[k] if dim[level.geometry[k]] == 2 else NO_AREA
                head[entries] = (np.int64(level.geometry[k]) << 8) | parity
                runs_off[entries] = n
            entries += 1
            for t in range(level.edge_off[k], level.edge_off[k + 1]):
                if t > level.edge_off[k] and level.edge[t] == level.edge[t - 1] + 1:
                    if fill:
                        runs[n - 1, 1] += 1
                    continue
                if fill:
                    runs[n, 0] = level.edge[t]
                    runs[n, 1] = 1
                n += 1
    if fill:
        runs_off[entries] = n
    return entries, n


def runs_of_leaves(
    dim: NDArray[np.int8], level: Level, leaf: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64], NDArray[np.int32]]:
    """Return the entries of these cells: slot, geometry << 8 | parity, and runs of edges."""
    none = np.empty(0, np.int64)
    words, two = np.empty(0, np.uint32), np.empty((0, 2), np.int32)
    entries, n = _write_runs(dim, level, leaf, False, none, words, none, two)
    slot, head = np.empty(entries, np.int64), np.empty(entries, np.uint32)
    runs_off, runs = np.zeros(entries + 1, np.int64), np.empty((n, 2), np.int32)
    _write_runs(dim, level, leaf, True, slot, head, runs_off, runs)
    return slot, head, runs_off, runs
