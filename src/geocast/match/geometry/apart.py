"""Do the edges of an area stay apart, but for neighbours in a ring?

Edges are compared by their boxes in whole numbers, 2^30 steps across the area, many at once: where
two real boxes meet, so do these. Each is compared with the next ones, and then block by block:
blocks of sixteen edges have a box, too. An area of which too many blocks meet is left undecided.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import APART, UNSURE, orientation, segments_meet
from geocast.match.geometry.shapes import Shapes, path_range

__all__ = ["Room", "edges_apart", "new_room"]

_WIDE: Final = 16  # edges in a block
_AHEAD: Final = 2 * _WIDE  # next edges that each is compared with
_STEPS: Final = float(1 << 30)
_NOWHERE_LOW: Final = (1 << 31) - 1
_NOWHERE_HIGH: Final = -1
_MOST_PAIRS: Final = 32  # of blocks that meet, for each block on average
_NARROW: Final = 1e-200  # what is narrower has no steps
_NONE: Final = -1


class Room(NamedTuple):
    """Scratch memory for one area after another.

    edge and block are boxes, (low x, high x, low y, high y) by edge and by block of edges; places
    behind the last are nowhere, and so is the last vertex of a ring, which starts no edge.
    chain: by edge, the last one of the monotone chain that it belongs to. closing: by a ring's
    first edge, its last.
    """

    edge: NDArray[np.int32]
    block: NDArray[np.int32]
    chain: NDArray[np.int32]
    closing: NDArray[np.int32]


def new_room(vertices: int) -> Room:
    """Return room for areas of up to so many vertices."""
    edges = (vertices // _WIDE + 1) * _WIDE + _AHEAD + 2
    blocks = (edges // (_WIDE * _WIDE) + 1) * _WIDE
    return Room(
        np.empty((4, edges), np.int32),
        np.empty((4, blocks), np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.int32),
    )


@njit(cache=True, _nrt=False)
def edges_apart(shapes: Shapes, g: int, room: Room) -> bool:
    """Is it proved that no two edges of area g touch, but for neighbours in the vertex they share?

    Ends as soon as two edges touch, or that they do not cannot be proved.
    """
    first, last = path_range(shapes, g)
    v0 = shapes.path_off[first]
    for path in range(first, last):
        a, b = shapes.path_off[path], shapes.path_off[path + 1] - 1
        if not _turns(shapes.xy, a, b):
            return False
        _find_chains(shapes.xy, a, b, v0, room)
        _box_edges(shapes, g, a, b, v0, room)
    edges = shapes.path_off[last] - v0
    blocks = (edges + _WIDE - 1) // _WIDE
    _clear(room.edge, edges, blocks * _WIDE + _AHEAD + 2)
    _box_blocks(blocks, room)
    return _near_apart(shapes.xy, v0, edges, room) and _blocks_apart(shapes.xy, v0, blocks, room)


@njit(cache=True, _nrt=False)
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


@njit(cache=True, _nrt=False)
def _find_chains(xy: NDArray[np.float64], a: int, b: int, v0: int, room: Room) -> None:
    """Set for every edge from a to b the last edge of its chain, and what closes the ring.

    Along a chain neither x nor y turns back, so its edges meet only as neighbours.
    """
    end, quarter = b - 1, -1
    for v in range(b - 1, a - 1, -1):
        east, north = xy[v + 1, 0] >= xy[v, 0], xy[v + 1, 1] >= xy[v, 1]
        own = 2 * east + north
        if own != quarter:
            end, quarter = v, own
        room.chain[v - v0] = end - v0
        room.closing[v - v0] = _NONE
    room.closing[a - v0] = b - 1 - v0


@njit(cache=True, _nrt=False)
def _box_edges(shapes: Shapes, g: int, a: int, b: int, v0: int, room: Room) -> None:
    """Set the boxes of the edges from a to b; rounding moves all ends alike, and never past."""
    xy, box = shapes.xy, room.edge
    west, south = shapes.bounds[g, 0], shapes.bounds[g, 1]
    width, height = shapes.bounds[g, 2] - west, shapes.bounds[g, 3] - south
    sx = _STEPS / width if width > _NARROW else 0.0
    sy = _STEPS / height if height > _NARROW else 0.0
    px, py = int((xy[a, 0] - west) * sx), int((xy[a, 1] - south) * sy)
    for v in range(a, b):
        qx, qy = int((xy[v + 1, 0] - west) * sx), int((xy[v + 1, 1] - south) * sy)
        k = v - v0
        box[0, k], box[1, k] = min(px, qx), max(px, qx)
        box[2, k], box[3, k] = min(py, qy), max(py, qy)
        px, py = qx, qy
    _clear(box, b - v0, b - v0 + 1)


@njit(cache=True, inline="always")
def _clear(box: NDArray[np.int32], start: int, stop: int) -> None:
    """Let boxes be nowhere."""
    for k in range(start, stop):
        box[0, k], box[1, k] = _NOWHERE_LOW, _NOWHERE_HIGH
        box[2, k], box[3, k] = _NOWHERE_LOW, _NOWHERE_HIGH


@njit(cache=True, _nrt=False)
def _box_blocks(blocks: int, room: Room) -> None:
    edge, block = room.edge, room.block
    for k in range(blocks):
        x0 = y0 = np.int64(_NOWHERE_LOW)
        x1 = y1 = np.int64(_NOWHERE_HIGH)
        for e in range(k * _WIDE, (k + 1) * _WIDE):
            at = np.uint64(e)
            x0, x1 = min(x0, edge[0, at]), max(x1, edge[1, at])
            y0, y1 = min(y0, edge[2, at]), max(y1, edge[3, at])
        block[0, k], block[1, k], block[2, k], block[3, k] = x0, x1, y0, y1
    _clear(block, blocks, (blocks + _WIDE - 1) // _WIDE * _WIDE)


@njit(cache=True, inline="always")
def _all_apart(
    box: NDArray[np.int32], first: int, count: int, x0: int, x1: int, y0: int, y1: int
) -> bool:
    """Does none of so many boxes from `first` on meet this one?

    Two boxes are apart where one of four differences is negative: its sign is all that is kept,
    without a jump, so that the processor takes many boxes at once.
    """
    sign = np.int32(-1)
    for k in range(count):
        at = np.uint64(first) + np.uint64(k)  # without a sign, numba need not count from behind
        x = np.int32(np.int32(x1 - box[0, at]) | np.int32(box[1, at] - x0))
        y = np.int32(np.int32(y1 - box[2, at]) | np.int32(box[3, at] - y0))
        sign = np.int32(sign & np.int32(x | y))
    return bool(sign < 0)


@njit(cache=True, inline="always")
def _is_apart(box: NDArray[np.int32], k: int, x0: int, x1: int, y0: int, y1: int) -> bool:
    return (box[0, k] > x1) | (box[1, k] < x0) | (box[2, k] > y1) | (box[3, k] < y0)


@njit(cache=True, _nrt=False)
def _near_apart(xy: NDArray[np.float64], v0: int, edges: int, room: Room) -> bool:
    """Does no edge touch one of the next ones, up to the end of the next block at least?"""
    edge = room.edge
    for i in range(edges):
        x0, x1, y0, y1 = edge[0, i], edge[1, i], edge[2, i], edge[3, i]
        if not _all_apart(edge, i + 2, _AHEAD, x0, x1, y0, y1) and not _edge_apart(
            xy, v0, i, i + 2, i + 2 + _AHEAD, room
        ):
            return False
    return True


@njit(cache=True, _nrt=False)
def _blocks_apart(xy: NDArray[np.float64], v0: int, blocks: int, room: Room) -> bool:
    """Does no edge touch one behind the next block? False also where too many blocks meet."""
    block = room.block
    pairs = 0
    for k in range(blocks):
        x0, x1, y0, y1 = block[0, k], block[1, k], block[2, k], block[3, k]
        for group in range((k + 2) // _WIDE * _WIDE, blocks, _WIDE):
            if _all_apart(block, group, _WIDE, x0, x1, y0, y1):
                continue
            for other in range(max(group, k + 2), min(group + _WIDE, blocks)):
                if _is_apart(block, other, x0, x1, y0, y1):
                    continue
                pairs += 1
                if pairs > _MOST_PAIRS * blocks or not _pair_apart(xy, v0, k, other, room):
                    return False
    return True


@njit(cache=True, _nrt=False)
def _pair_apart(xy: NDArray[np.float64], v0: int, k: int, other: int, room: Room) -> bool:
    """Does no edge of one block touch one of another block behind it?"""
    edge, block = room.edge, room.block
    first = other * _WIDE
    for i in range(k * _WIDE, (k + 1) * _WIDE):
        x0, x1, y0, y1 = edge[0, i], edge[1, i], edge[2, i], edge[3, i]
        if _is_apart(block, other, x0, x1, y0, y1):
            continue
        if not _all_apart(edge, first, _WIDE, x0, x1, y0, y1) and not _edge_apart(
            xy, v0, i, first, first + _WIDE, room
        ):
            return False
    return True


@njit(cache=True, _nrt=False)
def _edge_apart(
    xy: NDArray[np.float64], v0: int, i: int, start: int, stop: int, room: Room
) -> bool:
    """Does edge i touch none of the edges from start to stop, which are not before i + 1?

    Those of its monotone chain it cannot touch, nor its neighbours.
    """
    edge = room.edge
    x0, x1, y0, y1 = edge[0, i], edge[1, i], edge[2, i], edge[3, i]
    v = v0 + i
    for j in range(max(start, room.chain[i] + 1), stop):
        if _is_apart(edge, j, x0, x1, y0, y1) or j == i + 1 or j == room.closing[i]:
            continue
        w = v0 + j
        meeting = segments_meet(
            xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1],
            xy[w, 0], xy[w, 1], xy[w + 1, 0], xy[w + 1, 1], False,
        )  # fmt: skip
        if meeting != APART:
            return False
    return True
