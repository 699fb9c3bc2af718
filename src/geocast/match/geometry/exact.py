"""Exact signs for segments: orientation, and how two segments meet.

`orientation` is Shewchuk's: a floating-point determinant with a forward error bound, and
double-double arithmetic where the bound does not decide. Where even that leaves the sign open
the answer is `UNSURE`, and the pair of geometries goes to GEOS. So no rounding error ever
decides a match.

Reference: J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust
Geometric Predicates, 1997.
"""

from __future__ import annotations

from typing import Final

from numba import njit

__all__ = [
    "APART",
    "CROSSING",
    "OPPOSITE_EDGE",
    "ROUNDING",
    "SAME_EDGE",
    "SHARED_VERTEX",
    "UNCLEAR",
    "UNSURE",
    "nearly_touch",
    "on_segment",
    "orientation",
    "segments_meet",
]

UNSURE: Final = 2
"""An orientation whose sign could not be proved."""

APART: Final = 0
CROSSING: Final = 1
UNCLEAR: Final = 2
SHARED_VERTEX: Final = 3
SAME_EDGE: Final = 4
OPPOSITE_EDGE: Final = 5

_ERROR_BOUND: Final = 3.3306690738754716e-16  # (3 + 16u)u with u = 2^-53
_SPLITTER: Final = 134217729.0  # 2^27 + 1
_DOUBLE_DOUBLE_BOUND: Final = 1e-30

# GEOS rounds the point where two segments cross to doubles. A vertex this close (in degrees) to
# the other segment may coincide with that rounded point, so its answer is left to GEOS.
ROUNDING: Final = 2e-13


@njit(cache=True, inline="always")
def orientation(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> int:
    """Return 1 if c lies left of a->b, -1 if right, 0 if on the line, UNSURE if not proved."""
    left = (ax - cx) * (by - cy)
    right = (ay - cy) * (bx - cx)
    determinant = left - right
    error = _ERROR_BOUND * (abs(left) + abs(right))
    if determinant > error:
        return 1
    if determinant < -error:
        return -1
    return _orientation_double_double(ax, ay, bx, by, cx, cy)


@njit(cache=True)
def _difference_tail(a: float, b: float) -> float:
    """Return what rounding lost in a - b."""
    x = a - b
    b_virtual = a - x
    a_virtual = x + b_virtual
    return (a - a_virtual) + (b_virtual - b)


@njit(cache=True)
def _product_tail(a: float, b: float, product: float) -> float:
    """Return what rounding lost in a * b."""
    c = _SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = _SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit(cache=True)
def _orientation_double_double(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float
) -> int:
    a, a_tail = ax - cx, _difference_tail(ax, cx)
    b, b_tail = by - cy, _difference_tail(by, cy)
    c, c_tail = ay - cy, _difference_tail(ay, cy)
    d, d_tail = bx - cx, _difference_tail(bx, cx)
    if (a == 0.0 or b == 0.0) and (c == 0.0 or d == 0.0):
        return 0
    p, q = a * b, c * d
    p_tail, q_tail = _product_tail(a, b, p), _product_tail(c, d, q)
    high, high_tail = p - q, _difference_tail(p, q)
    if a_tail == 0.0 and b_tail == 0.0 and c_tail == 0.0 and d_tail == 0.0:
        low, low_tail = p_tail - q_tail, _difference_tail(p_tail, q_tail)
        if high_tail == 0.0 and low_tail == 0.0:  # high + low is the exact determinant
            if high > -low:
                return 1
            return -1 if high < -low else 0
    mixed = (a * b_tail + a_tail * b) - (c * d_tail + c_tail * d)
    total = high + (high_tail + ((p_tail - q_tail) + mixed))
    error = (abs(p) + abs(q)) * _DOUBLE_DOUBLE_BOUND
    if total > error:
        return 1
    return -1 if total < -error else UNSURE


@njit(cache=True, inline="always")
def _in_box(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> bool:
    return min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by)


@njit(cache=True)
def on_segment(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """Return 1 if (x, y) lies on the closed segment, 0 if not, UNSURE if not proved."""
    if not _in_box(ax, ay, bx, by, x, y):
        return 0
    side = orientation(ax, ay, bx, by, x, y)
    if side == UNSURE:
        return UNSURE
    return 1 if side == 0 else 0


@njit(cache=True)
def _near(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> bool:
    """Is (x, y) so close to the line a-b that GEOS's rounded crossing may fall on it?"""
    ex, ey = bx - ax, by - ay
    return abs(ex * (y - ay) - ey * (x - ax)) <= ROUNDING * (abs(ex) + abs(ey))


@njit(cache=True)
def _fold_at_shared_vertex(
    sx: float, sy: float, px: float, py: float, qx: float, qy: float, wary: bool
) -> int:
    """Segments s-p and s-q share s: only there, unless they leave s in the same direction."""
    side = orientation(sx, sy, px, py, qx, qy)
    if side == UNSURE:
        return UNCLEAR
    if (px - sx) * (qx - sx) + (py - sy) * (qy - sy) < 0.0:
        return SHARED_VERTEX
    if side == 0:
        return UNCLEAR
    if wary and (_near(sx, sy, px, py, qx, qy) or _near(sx, sy, qx, qy, px, py)):
        return UNCLEAR
    return SHARED_VERTEX


@njit(cache=True)
def segments_meet(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float,
    wary: bool,
) -> int:  # fmt: skip
    """Say how the segments a-b and c-d meet.

    APART: not at all. CROSSING: in one point inside both. SHARED_VERTEX: only in an end that is
    bit-equal in both. SAME_EDGE, OPPOSITE_EDGE: they are the same segment. UNCLEAR: an end of one
    lies on the other, or too close to it, or they overlap in part. `wary` is for two lines, which
    GEOS may find to overlap where they leave a shared vertex in nearly the same direction.
    """
    if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx):
        return APART
    if max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
        return APART
    ac = ax == cx and ay == cy
    ad = ax == dx and ay == dy
    bc = bx == cx and by == cy
    bd = bx == dx and by == dy
    if ac and bd:
        return SAME_EDGE
    if ad and bc:
        return OPPOSITE_EDGE
    if ac:
        return _fold_at_shared_vertex(ax, ay, bx, by, dx, dy, wary)
    if ad:
        return _fold_at_shared_vertex(ax, ay, bx, by, cx, cy, wary)
    if bc:
        return _fold_at_shared_vertex(bx, by, ax, ay, dx, dy, wary)
    if bd:
        return _fold_at_shared_vertex(bx, by, ax, ay, cx, cy, wary)
    c_side = orientation(ax, ay, bx, by, cx, cy)
    d_side = orientation(ax, ay, bx, by, dx, dy)
    if c_side == d_side and (c_side == 1 or c_side == -1):
        return APART
    a_side = orientation(cx, cy, dx, dy, ax, ay)
    b_side = orientation(cx, cy, dx, dy, bx, by)
    if a_side == b_side and (a_side == 1 or a_side == -1):
        return APART
    if c_side == UNSURE or d_side == UNSURE or a_side == UNSURE or b_side == UNSURE:
        return UNCLEAR
    if c_side != 0 and d_side != 0 and a_side != 0 and b_side != 0:
        if _near(ax, ay, bx, by, cx, cy) or _near(ax, ay, bx, by, dx, dy):
            return UNCLEAR
        if _near(cx, cy, dx, dy, ax, ay) or _near(cx, cy, dx, dy, bx, by):
            return UNCLEAR
        return CROSSING
    if c_side == 0 and d_side == 0:
        return UNCLEAR
    if (c_side == 0 and _in_box(ax, ay, bx, by, cx, cy)) or (
        d_side == 0 and _in_box(ax, ay, bx, by, dx, dy)
    ):
        return UNCLEAR
    if (a_side == 0 and _in_box(cx, cy, dx, dy, ax, ay)) or (
        b_side == 0 and _in_box(cx, cy, dx, dy, bx, by)
    ):
        return UNCLEAR
    return APART


@njit(cache=True, inline="always")
def _near_end(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> bool:
    if x < min(ax, bx) - ROUNDING or x > max(ax, bx) + ROUNDING:
        return False
    if y < min(ay, by) - ROUNDING or y > max(ay, by) + ROUNDING:
        return False
    return _near(ax, ay, bx, by, x, y)


@njit(cache=True)
def nearly_touch(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float
) -> bool:
    """Do segments that are apart come so close at an end that GEOS's rounding may join them?

    It matters for lines, which may run over themselves: a crossing of one edge, once rounded,
    may fall on the end of another.
    """
    if max(ax, bx) < min(cx, dx) - ROUNDING or max(cx, dx) < min(ax, bx) - ROUNDING:
        return False
    return (
        _near_end(ax, ay, bx, by, cx, cy)
        or _near_end(ax, ay, bx, by, dx, dy)
        or _near_end(cx, cy, dx, dy, ax, ay)
        or _near_end(cx, cy, dx, dy, bx, by)
    )
