"""A publication as a picture of 64 x 64 pixels: what lies in plain pixels is decided at once.

A pixel that comes near an edge of the publication belongs to its rim; every other pixel lies
wholly inside or wholly outside. Rows are 64-bit words, so a row of pixels is asked in one step.

Why plain pixels are sure. Row and column of a point grow with its coordinates, so the points of a
pixel form a rectangle. Edges are drawn wider by `_MARGIN`, a thousand times what rounding moves
them, so that no edge passes through the rectangle of a pixel outside the rim: it is connected and
free of edges, hence on one side. On which side is the parity of the edges left of it on the middle
line of its row; the column of such an edge is in the rim, so a rounding error there changes
nothing outside the rim. Pictures whose pixels would come near `_MARGIN` in size are not drawn,
nor are those of a few edges, which are sooner compared one by one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.index.trie import INSIDE, OUTSIDE, UNKNOWN

__all__ = [
    "PIXELS",
    "box_place",
    "draw",
    "edges_near",
    "in_rim",
    "new_frame",
    "pixel_of",
    "point_place",
    "want",
]

PIXELS: Final = 64

_MARGIN: Final = 1e-10
_SMALLEST: Final = 1e-5
_FEWEST: Final = 32
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_WEST, _SOUTH, _EAST, _NORTH, _ACROSS, _UP = range(6)


def new_frame() -> NDArray[np.float64]:
    """Return room for a picture's frame: its bounds, and pixels per degree across and up."""
    return np.zeros(6)


@njit(cache=True, inline="always")
def _pixel(v: float, low: float, scale: float) -> int:
    return min(PIXELS - 1, max(0, int((v - low) * scale)))


@njit(cache=True, inline="always")
def _columns(c0: int, c1: int) -> np.uint64:
    """Return the word with the bits c0 to c1 set."""
    return (_ALL >> np.uint64(PIXELS - 1 - (c1 - c0))) << np.uint64(c0)


@njit(cache=True)
def draw(
    xy: NDArray[np.float64], path_off: NDArray[np.int32], first: int, last: int,
    box: NDArray[np.float64], area: bool, frame: NDArray[np.float64],
    rim: NDArray[np.uint64], inside: NDArray[np.uint64],
) -> bool:  # fmt: skip
    """Draw the paths first:last, whose bounds are `box`; only an area has an inside.

    Returns False for what is too small or too simple to be worth it: all of its box is rim.
    """
    west, south, width, height = box[0], box[1], box[2] - box[0], box[3] - box[1]
    frame[_WEST], frame[_SOUTH], frame[_EAST], frame[_NORTH] = box[0], box[1], box[2], box[3]
    if max(width, height) < _SMALLEST or path_off[last] - path_off[first] < _FEWEST:
        frame[_ACROSS] = frame[_UP] = 0.0
        rim[0] = 1
        return False
    sx = PIXELS / width if width > _SMALLEST else 0.0
    sy = PIXELS / height if height > _SMALLEST else 0.0
    frame[_ACROSS], frame[_UP] = sx, sy
    rim[:] = 0
    inside[:] = 0
    up = height / PIXELS
    for path in range(first, last):
        ax, ay = xy[path_off[path], 0], xy[path_off[path], 1]
        for v in range(path_off[path] + 1, path_off[path + 1]):
            bx, by = xy[v, 0], xy[v, 1]
            x0, x1, y0, y1 = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
            r0, r1 = _pixel(y0 - _MARGIN, south, sy), _pixel(y1 + _MARGIN, south, sy)
            c0, c1 = _pixel(x0 - _MARGIN, west, sx), _pixel(x1 + _MARGIN, west, sx)
            if r0 == r1 or c0 == c1 or ay == by:
                for r in range(r0, r1 + 1):
                    rim[r] |= _columns(c0, c1)
            else:
                slope = (bx - ax) / (by - ay)
                for r in range(r0, r1 + 1):
                    low = max(y0, south + r * up - _MARGIN)
                    high = min(y1, south + (r + 1) * up + _MARGIN)
                    xa, xb = ax + (low - ay) * slope, ax + (high - ay) * slope
                    left = max(x0, min(xa, xb)) - _MARGIN
                    right = min(x1, max(xa, xb)) + _MARGIN
                    rim[r] |= _columns(_pixel(left, west, sx), _pixel(right, west, sx))
            for r in range(r0, r1 + 1 if area else r0):
                middle = south + (r + 0.5) * up
                if (ay <= middle) != (by <= middle):
                    x = ax + (middle - ay) / (by - ay) * (bx - ax)
                    c = _pixel(min(x1, max(x0, x)), west, sx)
                    if c < PIXELS - 1:
                        inside[r] ^= _columns(c + 1, PIXELS - 1)
            ax, ay = bx, by
    return True


@njit(cache=True, inline="always")
def box_place(
    frame: NDArray[np.float64], rim: NDArray[np.uint64], inside: NDArray[np.uint64],
    x0: float, y0: float, x1: float, y1: float,
) -> int:  # fmt: skip
    """Return INSIDE or OUTSIDE if no edge comes near the box, which meets the bounds; else UNKNOWN.

    A box that reaches beyond the bounds is never inside: the bounds' own pixels there are rim
    wherever the publication comes near them.
    """
    c0, c1 = _pixel(x0, frame[_WEST], frame[_ACROSS]), _pixel(x1, frame[_WEST], frame[_ACROSS])
    r0, r1 = _pixel(y0, frame[_SOUTH], frame[_UP]), _pixel(y1, frame[_SOUTH], frame[_UP])
    columns = _columns(c0, c1)
    for r in range(r0, r1 + 1):
        if rim[r] & columns:
            return UNKNOWN
    return INSIDE if inside[r0] & columns else OUTSIDE


@njit(cache=True, inline="always")
def pixel_of(frame: NDArray[np.float64], x: float, y: float) -> tuple[int, int]:
    """Return column and row of a point; one beyond the bounds belongs to a pixel next to them."""
    return _pixel(x, frame[_WEST], frame[_ACROSS]), _pixel(y, frame[_SOUTH], frame[_UP])


@njit(cache=True, inline="always")
def in_rim(rim: NDArray[np.uint64], c0: int, r0: int, c1: int, r1: int) -> bool:
    """Is a pixel of the rim among those between two pixels?"""
    columns = _columns(min(c0, c1), max(c0, c1))
    found = np.uint64(0)
    for r in range(min(r0, r1), max(r0, r1) + 1):
        found |= rim[r] & columns
    return bool(found != 0)


@njit(cache=True, inline="always")
def point_place(
    frame: NDArray[np.float64], rim: NDArray[np.uint64], inside: NDArray[np.uint64],
    x: float, y: float,
) -> int:  # fmt: skip
    """Return INSIDE, OUTSIDE, or UNKNOWN for a point in the rim."""
    if x < frame[_WEST] or x > frame[_EAST] or y < frame[_SOUTH] or y > frame[_NORTH]:
        return OUTSIDE
    r = _pixel(y, frame[_SOUTH], frame[_UP])
    column = np.uint64(_pixel(x, frame[_WEST], frame[_ACROSS]))
    if (rim[r] >> column) & np.uint64(1):
        return UNKNOWN
    return INSIDE if (inside[r] >> column) & np.uint64(1) else OUTSIDE


@njit(cache=True, inline="always")
def want(
    frame: NDArray[np.float64], wanted: NDArray[np.uint64],
    x0: float, y0: float, x1: float, y1: float,
) -> None:  # fmt: skip
    """Note that edges near this box are wanted."""
    c0 = _pixel(x0 - _MARGIN, frame[_WEST], frame[_ACROSS])
    c1 = _pixel(x1 + _MARGIN, frame[_WEST], frame[_ACROSS])
    r0 = _pixel(y0 - _MARGIN, frame[_SOUTH], frame[_UP])
    r1 = _pixel(y1 + _MARGIN, frame[_SOUTH], frame[_UP])
    columns = _columns(c0, c1)
    for r in range(r0, r1 + 1):
        wanted[r] |= columns


@njit(cache=True)
def edges_near(
    xy: NDArray[np.float64], path_off: NDArray[np.int32], first: int, last: int,
    frame: NDArray[np.float64], wanted: NDArray[np.uint64], edges: NDArray[np.int32],
) -> int:  # fmt: skip
    """List the edges (by their first vertex) that come near what is wanted; returns how many."""
    west, south, sx, sy = frame[_WEST], frame[_SOUTH], frame[_ACROSS], frame[_UP]
    n = 0
    for path in range(first, last):
        v = path_off[path]
        column, row = _pixel(xy[v, 0], west, sx), _pixel(xy[v, 1], south, sy)
        for v in range(path_off[path], path_off[path + 1] - 1):
            c, r = _pixel(xy[v + 1, 0], west, sx), _pixel(xy[v + 1, 1], south, sy)
            columns = _columns(min(c, column), max(c, column))
            for k in range(min(r, row), max(r, row) + 1):
                if wanted[k] & columns:
                    edges[n] = v
                    n += 1
                    break
            column, row = c, r
    return n
