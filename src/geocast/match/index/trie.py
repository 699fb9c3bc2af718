"""The arrays of a built cell index, and how a place in one of its cells is located.

A slot is a cell. Inner cells have 16 consecutive child slots; a leaf has entries. A geometry that
covers a whole cell with its interior stands in the cell's inner list and nowhere below. A
geometry whose edges come near a leaf has an entry there: the runs of those edges, and whether the
leaf's reference point lies inside the geometry. Within a leaf, which is convex, a point lies
inside if and only if the straight path from the reference point to it crosses those edges an odd
number of times (for even parity outside).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import UNSURE, orientation

__all__ = [
    "INSIDE",
    "NO_AREA",
    "ON",
    "OUTSIDE",
    "SPILLED",
    "UNKNOWN",
    "Trie",
    "cross_run",
    "crossing",
    "entry_geometry",
    "entry_parity",
    "entry_run",
    "entry_runs",
    "is_one_run",
    "locate",
    "run_length",
]

OUTSIDE: Final = 0
INSIDE: Final = 1
UNKNOWN: Final = 2
ON: Final = 3

NO_AREA: Final = 3
"""The parity field of an entry of a line or point, which has no inside."""

SPILLED: Final = 63
"""The length field of an entry whose runs do not fit into it and stand in the spill."""

_ROUNDED: Final = 1e-15
"""What rounding may add to a cross product of differences, in its two products: above 3.4e-16
(Shewchuk's bound), and 6.7e-16 for three of them added up."""


class Trie(NamedTuple):
    """A cell index as arrays.

    slot[s] = (first child or -1, start in inner, start in entry, number in inner).
    entry[t] = (geometry << 8 | run length << 2 | parity, first edge of the run), one run of fewer
    than 63 edges; otherwise the second word numbers a range of spill_off into spill, whose rows
    are (first, length).
    """

    slot: NDArray[np.int32]
    inner: NDArray[np.int32]
    entry: NDArray[np.uint32]
    spill_off: NDArray[np.int32]
    spill: NDArray[np.int32]


@njit(cache=True, inline="always")
def entry_geometry(trie: Trie, t: int) -> np.int64:
    """Return the geometry of entry t."""
    return np.int64(trie.entry[t, 0] >> 8)


@njit(cache=True, inline="always")
def entry_parity(trie: Trie, t: int) -> np.int64:
    """Return where the leaf's reference point lies: OUTSIDE, INSIDE, UNKNOWN; or NO_AREA."""
    return np.int64(trie.entry[t, 0] & 3)


@njit(cache=True, inline="always")
def entry_runs(trie: Trie, t: int) -> int:
    """Return how many runs of edges entry t has."""
    length = np.int64((trie.entry[t, 0] >> 2) & 63)
    if length < SPILLED:
        return 1 if length > 0 else 0
    k = np.int64(trie.entry[t, 1])
    return trie.spill_off[k + 1] - trie.spill_off[k]


@njit(cache=True, inline="always")
def entry_run(trie: Trie, t: int, r: int) -> tuple[np.int64, np.int64]:
    """Return the first edge of run r of entry t, and how many edges it has."""
    length = np.int64((trie.entry[t, 0] >> 2) & 63)
    first = np.int64(trie.entry[t, 1])
    if length < SPILLED:
        return first, length
    k = trie.spill_off[first] + r
    return np.int64(trie.spill[k, 0]), np.int64(trie.spill[k, 1])


@njit(cache=True)
def crossing(
    ax: float, ay: float, bx: float, by: float,
    rx: float, ry: float, px: float, py: float, a_side: int, b_side: int,
) -> int:  # fmt: skip
    """Does the path r->p cross the edge a-b? 1 yes, 0 no, ON if p lies on it, UNKNOWN.

    a_side and b_side are the orientations of a and b against the path.
    """
    if a_side == b_side and (a_side == 1 or a_side == -1):
        return 0
    p_side = orientation(ax, ay, bx, by, px, py)
    if p_side == UNSURE:
        return UNKNOWN
    if p_side == 0 and min(ax, bx) <= px <= max(ax, bx) and min(ay, by) <= py <= max(ay, by):
        return ON
    if a_side == UNSURE or b_side == UNSURE or a_side == 0 or b_side == 0:
        return UNKNOWN  # the path passes through a vertex
    r_side = orientation(ax, ay, bx, by, rx, ry)
    if r_side == UNSURE or r_side == 0 or p_side == 0:
        return UNKNOWN
    return 1 if p_side != r_side else 0


@njit(cache=True, inline="always")
def is_one_run(head: np.uint32) -> bool:
    """Is this first word of an entry that of an area with one run and a known reference point?"""
    return bool(head & 3 < UNKNOWN) and bool(run_length(head) < SPILLED)


@njit(cache=True, inline="always")
def run_length(head: np.uint32) -> np.int64:
    """Return the length field of an entry, by its first word."""
    return np.int64((head >> 2) & SPILLED)


@njit(cache=True, inline="always", _nrt=False)
def cross_run(
    xy: NDArray[np.float64], first: int, length: int, parity: int,
    rx: float, ry: float, px: float, py: float,
) -> int:  # fmt: skip
    """Carry the parity along r->p over one run of edges; UNKNOWN and ON as `locate` returns.

    All signs of an edge are taken at once and nothing depends on them but what is remembered: a
    processor that had to guess which edges the path crosses would guess wrong half of the time. An
    edge is not crossed if both of its ends surely lie on one side of the path, or both ends of the
    path on one side of it; it is if neither is so and all four signs are sure. With vectors from p,
    d x a and d x b (d = p - r) are the sides of the ends, a x b that of p, and that of r is
    a x b - d x a + d x b. A run with an edge that is not sure is gone through once more, exactly.
    """
    dx, dy = px - rx, py - ry
    ax, ay = xy[first, 0] - px, xy[first, 1] - py
    left, right = dx * ay, dy * ax
    a_det, a_err = left - right, _ROUNDED * (abs(left) + abs(right))
    a_sure, sure, place = abs(a_det) > a_err, True, parity
    for v in range(first + 1, first + length + 1):
        bx, by = xy[v, 0] - px, xy[v, 1] - py
        left, right = dx * by, dy * bx
        b_det, b_err = left - right, _ROUNDED * (abs(left) + abs(right))
        b_sure = abs(b_det) > b_err
        left, right = ax * by, ay * bx
        p_det = left - right
        r_det = p_det - a_det + b_det
        r_err = _ROUNDED * (abs(left) + abs(right)) + a_err + b_err
        ends_sure = a_sure & b_sure
        path_sure = (abs(p_det) > r_err) & (abs(r_det) > r_err)
        ends_apart = (a_det > 0.0) != (b_det > 0.0)
        path_apart = (p_det > 0.0) != (r_det > 0.0)
        sure &= (
            (ends_sure & path_sure)
            | (ends_sure & (not ends_apart))
            | (path_sure & (not path_apart))
        )
        place ^= ends_apart & path_apart
        ax, ay, a_det, a_err, a_sure = bx, by, b_det, b_err, b_sure
    return place if sure else _cross_run_exactly(xy, first, length, parity, rx, ry, px, py)


@njit(cache=True, _nrt=False)
def _cross_run_exactly(
    xy: NDArray[np.float64], first: int, length: int, parity: int,
    rx: float, ry: float, px: float, py: float,
) -> int:  # fmt: skip
    """Do what `cross_run` does where rounding errors could decide."""
    unknown = False
    a_side = orientation(rx, ry, px, py, xy[first, 0], xy[first, 1])
    for v in range(first, first + length):
        b_side = orientation(rx, ry, px, py, xy[v + 1, 0], xy[v + 1, 1])
        c = crossing(xy[v, 0], xy[v, 1], xy[v + 1, 0], xy[v + 1, 1], rx, ry, px, py, a_side, b_side)
        if c == ON:
            return ON
        if c == UNKNOWN:
            unknown = True
        else:
            parity ^= c
        a_side = b_side
    return UNKNOWN if unknown else parity


@njit(cache=True, inline="always")
def locate(
    trie: Trie, xy: NDArray[np.float64], t: int, rx: float, ry: float, px: float, py: float
) -> int:
    """Where does p lie in the polygon of entry t? r is the reference point of p's leaf.

    Returns OUTSIDE, INSIDE, ON, or UNKNOWN where the path from r runs through a vertex or a sign
    is not proved.
    """
    place = entry_parity(trie, t)
    if place == UNKNOWN:
        return UNKNOWN
    unknown = False
    for r in range(entry_runs(trie, t)):
        first, length = entry_run(trie, t, r)
        after = cross_run(xy, first, length, place, rx, ry, px, py)
        if after == ON:
            return ON
        if after == UNKNOWN:
            unknown = True
        else:
            place = after
    return UNKNOWN if unknown else place
