"""The frame of square cells that the cell index divides the world into.

The frame is [-256, 256) in both axes: its side and every cell's side are powers of two, so that
each cell border is an exact double and no longitude or latitude reaches the rim. A cell of level
L has a side of 512 / 2^L degrees. The index starts at ROOT_LEVEL and divides a cell into 4 x 4.
"""

from __future__ import annotations

from typing import Final

from numba import njit

__all__ = [
    "DEEPEST",
    "FAN",
    "FAN_BITS",
    "INDEX_MARGIN",
    "ORIGIN",
    "QUERY_MARGIN",
    "REFERENCE_X",
    "REFERENCE_Y",
    "ROOT_LEVEL",
    "SPAN",
    "segment_meets_box",
    "side",
]

ORIGIN: Final = -256.0
SPAN: Final = 512.0
ROOT_LEVEL: Final = 8
FAN_BITS: Final = 2
FAN: Final = 4
DEEPEST: Final = 20

# An edge belongs to every cell that it comes this close to (degrees). A query widens cells by
# less, so whatever a query meets, the index has; both are far above any rounding error.
INDEX_MARGIN: Final = 2e-10
QUERY_MARGIN: Final = 1e-10

# Every cell has a reference point whose place (in or out of a geometry) is known. These fractions
# of its side keep it off the round decimals on which real coordinates lie.
REFERENCE_X: Final = 0.5137
REFERENCE_Y: Final = 0.4871


@njit(cache=True, inline="always")
def side(level: int) -> float:
    """Return the side of a cell of this level, exactly."""
    return SPAN / (1 << level)


@njit(cache=True, inline="always")
def segment_meets_box(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, half: float
) -> bool:
    """Does the segment meet the box with this centre and half side? May err towards yes."""
    if max(ax, bx) < cx - half or min(ax, bx) > cx + half:
        return False
    if max(ay, by) < cy - half or min(ay, by) > cy + half:
        return False
    dx, dy = bx - ax, by - ay
    return abs(dx * (cy - ay) - dy * (cx - ax)) <= half * (abs(dx) + abs(dy))
