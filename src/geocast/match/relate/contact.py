"""Where the edges of a publication and of a candidate meet, in the leaves that both share.

Contacts are found exactly: proper crossings, shared vertices, shared edges. Anything subtler (a
vertex inside an edge, edges that overlap in part, a sign not proved) is left to GEOS.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.exact import (
    APART,
    CROSSING,
    OPPOSITE_EDGE,
    ROUNDING,
    SAME_EDGE,
    SHARED_VERTEX,
    UNCLEAR,
    UNSURE,
    nearly_touch,
    orientation,
    segments_meet,
)
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.frame import ORIGIN, QUERY_MARGIN, REFERENCE_X, REFERENCE_Y, side
from geocast.match.index.trie import INSIDE, OUTSIDE, Trie, entry_run, entry_runs, locate
from geocast.match.relate.place import is_line_end
from geocast.match.relate.work import Leaf, Work

__all__ = ["NO_CONTACTS", "Contacts", "Sides", "find_contacts", "find_sides", "is_shared_edge"]

_FIRST: Final = Leaf.FIRST
_LAST: Final = Leaf.LAST
_LEVEL: Final = Leaf.LEVEL
_COLUMN: Final = Leaf.COLUMN
_ROW: Final = Leaf.ROW
_AMBIGUOUS: Final = -1


class Contacts(NamedTuple):
    """What was found in the shared leaves.

    crossing: an edge of each cross inside both; where the caller asked to stop there, nothing
    else is complete. unclear: GEOS must decide. touching: some vertex or edge is shared. same,
    opposite: a shared edge runs in the same, the opposite direction in both. inner: a shared
    vertex belongs to the interiors of two lines. edges, other_edges: how many edges of the
    publication, of the candidate, are shared.
    """

    crossing: bool
    unclear: bool
    touching: bool
    same: bool
    opposite: bool
    inner: bool
    edges: int
    other_edges: int


@njit(cache=True)
def _mark_vertex(
    mark: NDArray[np.int32], mates: NDArray[np.int32], k: int, pair: int, mate: int
) -> None:
    """Vertex k lies on the candidate's vertex `mate`; on two different ones it is ambiguous."""
    if mark[k] != pair:
        mark[k] = pair
        mates[k] = mate
    elif mates[k] != mate:
        mates[k] = _AMBIGUOUS


@njit(cache=True)
def _shared_vertex(
    p: NDArray[np.float64], v: int, c: NDArray[np.float64], s: int
) -> tuple[int, int]:
    """Return the vertex that edges v and s have in common: its number in p, and in c."""
    at_first = (p[v, 0] == c[s, 0] and p[v, 1] == c[s, 1]) or (
        p[v + 1, 0] == c[s, 0] and p[v + 1, 1] == c[s, 1]
    )
    mate = s if at_first else s + 1
    return (v if p[v, 0] == c[mate, 0] and p[v, 1] == c[mate, 1] else v + 1), mate


@njit(cache=True, forceinline=True, _nrt=False)
def is_shared_edge(work: Work, k: int, pair: int) -> bool:
    """Is the candidate's edge at k (counted from its first vertex) one of the publication's?"""
    return work.other_edge[k] >> 1 == pair


@njit(cache=True, forceinline=True, _nrt=False)
def _close_publication(
    pub: Shapes, q: int, v0: int, pair: int, mark: NDArray[np.int32], mates: NDArray[np.int32]
) -> None:
    """The first and last vertex of a ring are one: what is marked of one holds for the other."""
    first, last = path_range(pub, q)
    for path in range(first, last):
        a, b = pub.path_off[path], pub.path_off[path + 1] - 1
        if pub.xy[a, 0] != pub.xy[b, 0] or pub.xy[a, 1] != pub.xy[b, 1]:
            continue
        if mark[a - v0] == pair:
            _mark_vertex(mark, mates, b - v0, pair, mates[a - v0])
        if mark[b - v0] == pair:
            _mark_vertex(mark, mates, a - v0, pair, mates[b - v0])


@njit(cache=True, forceinline=True, _nrt=False)
def _close_candidate(sub: Shapes, g: int, s0: int, pair: int, mark: NDArray[np.int32]) -> None:
    first, last = path_range(sub, g)
    for path in range(first, last):
        a, b = sub.path_off[path], sub.path_off[path + 1] - 1
        if sub.xy[a, 0] != sub.xy[b, 0] or sub.xy[a, 1] != sub.xy[b, 1]:
            continue
        if mark[a - s0] == pair or mark[b - s0] == pair:
            mark[a - s0] = pair
            mark[b - s0] = pair


@njit(cache=True)
def _next_meeting(
    p: NDArray[np.float64], v: int, c: NDArray[np.float64], s: int, end: int, lines: bool
) -> tuple[int, int]:
    """Return the next edge of c from s on that meets edge v of p, and how; `end` if none does."""
    ax, ay, bx, by = p[v, 0], p[v, 1], p[v + 1, 0], p[v + 1, 1]
    slack = ROUNDING if lines else 0.0
    west, east = min(ax, bx) - slack, max(ax, bx) + slack
    south, north = min(ay, by) - slack, max(ay, by) + slack
    if s >= end:
        return end, APART
    cx, cy = c[s, 0], c[s, 1]
    while s < end:
        dx, dy = c[s + 1, 0], c[s + 1, 1]
        beside = (cx < west and dx < west) or (cx > east and dx > east)
        if not beside and not ((cy < south and dy < south) or (cy > north and dy > north)):
            how = segments_meet(ax, ay, bx, by, cx, cy, dx, dy, lines)
            if how == APART and lines and nearly_touch(ax, ay, bx, by, cx, cy, dx, dy):
                how = UNCLEAR
            if how != APART:
                return s, how
        s += 1
        cx, cy = dx, dy
    return end, APART


@njit(cache=True)
def _same_edge(p: NDArray[np.float64], v: int, c: NDArray[np.float64], s: int) -> int:
    """Is edge v of p, bit by bit, edge s of c? SAME_EDGE, OPPOSITE_EDGE, or APART for no."""
    ax, ay, bx, by = p[v, 0], p[v, 1], p[v + 1, 0], p[v + 1, 1]
    if ax == c[s, 0] and ay == c[s, 1] and bx == c[s + 1, 0] and by == c[s + 1, 1]:
        return SAME_EDGE
    if ax == c[s + 1, 0] and ay == c[s + 1, 1] and bx == c[s, 0] and by == c[s, 1]:
        return OPPOSITE_EDGE
    return APART


@njit(cache=True, forceinline=True, _nrt=False)
def _box_of_near_edges(
    trie: Trie, t: int, runs: int, c: NDArray[np.float64], bounds: NDArray[np.float64], q: int
) -> tuple[float, float, float, float]:
    """Return a box around those edges of entry t that come near the bounds of publication q.

    It is a little wider than they are; without such edges its east lies west of its west.
    """
    west, south = bounds[q, 0] - ROUNDING, bounds[q, 1] - ROUNDING
    east, north = bounds[q, 2] + ROUNDING, bounds[q, 3] + ROUNDING
    x0 = y0 = np.inf
    x1 = y1 = -np.inf
    for r in range(runs):
        first, length = entry_run(trie, t, r)
        cx, cy = c[first, 0], c[first, 1]
        for s in range(first + 1, first + length + 1):
            dx, dy = c[s, 0], c[s, 1]
            low_x, high_x, low_y, high_y = min(cx, dx), max(cx, dx), min(cy, dy), max(cy, dy)
            apart = (high_x < west) | (low_x > east) | (high_y < south) | (low_y > north)
            if not apart:
                x0, x1 = min(x0, low_x), max(x1, high_x)
                y0, y1 = min(y0, low_y), max(y1, high_y)
            cx, cy = dx, dy
    return x0 - ROUNDING, y0 - ROUNDING, x1 + ROUNDING, y1 + ROUNDING


@njit(cache=True, forceinline=True, _nrt=False)
def _is_apart(p: NDArray[np.float64], v: int, box: tuple[float, float, float, float]) -> bool:
    """Does the box of edge v miss the given one?"""
    ax, ay, bx, by = p[v, 0], p[v, 1], p[v + 1, 0], p[v + 1, 1]
    beside = (max(ax, bx) < box[0]) | (min(ax, bx) > box[2])
    return beside | (max(ay, by) < box[1]) | (min(ay, by) > box[3])


@njit(cache=True, forceinline=True, _nrt=False)
def find_contacts(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, pair: int,
    stop_at_crossing: bool, sub_simple: bool, work: Work,
) -> Contacts:  # fmt: skip
    """Compare the edges of publication q and candidate g (number u) in the leaves they share.

    sub_simple says that g is an area whose edges meet only as neighbours in a ring. Then an edge
    of q that is also an edge of g meets the others of g just as that one does, and need not be
    compared with them.
    """
    arena, leaf_lists, link_next = work.arena, work.leaf, work.link_next
    link_leaf, link_entry = work.link_leaf, work.link_entry
    vertex_mark, vertex_mate, edge_mark = work.vertex_mark, work.vertex_mate, work.edge_mark
    other_vertex, other_edge = work.other_vertex, work.other_edge
    p, c = pub.xy, sub.xy
    v0 = pub.path_off[path_range(pub, q)[0]]
    s0 = sub.path_off[path_range(sub, g)[0]]
    lines = pub.dim[q] == 1 and sub.dim[g] == 1
    crossing = unclear = touching = same = opposite = inner = False
    edges = other_edges = 0
    guess = -1  # where edges are shared in a row, the next one
    link = work.head[u]
    while link >= 0:
        leaf, t = link_leaf[link], link_entry[link]
        link = link_next[link]
        runs = entry_runs(trie, t)
        box = _box_of_near_edges(trie, t, runs, c, pub.bounds, q)
        if box[2] < box[0]:
            continue
        for m in range(leaf_lists[leaf, _FIRST], leaf_lists[leaf, _LAST]):
            v = arena[m]
            if _is_apart(p, v, box):
                continue
            for r in range(runs):
                if sub_simple and edge_mark[v - v0] == pair:
                    break
                s, length = entry_run(trie, t, r)
                end = s + length
                how = _same_edge(p, v, c, guess) if sub_simple and s <= guess < end else APART
                if how == APART:
                    s, how = _next_meeting(p, v, c, s, end, lines)
                else:
                    s = guess
                while s < end:
                    if how == CROSSING:
                        crossing = True
                        if stop_at_crossing:
                            return Contacts(
                                True, unclear, touching, same, opposite, inner, edges, other_edges
                            )
                    elif how == UNCLEAR:
                        unclear = True
                    elif how == SHARED_VERTEX:
                        touching = True
                        own, mate = _shared_vertex(p, v, c, s)
                        other_vertex[mate - s0] = pair
                        _mark_vertex(vertex_mark, vertex_mate, own - v0, pair, mate)
                        if lines and not inner:
                            x, y = p[own, 0], p[own, 1]
                            inner = not is_line_end(pub, q, x, y) and not is_line_end(sub, g, x, y)
                    else:
                        touching = True
                        along = how == SAME_EDGE
                        same = same or along
                        opposite = opposite or not along
                        other_vertex[s - s0] = pair
                        other_vertex[s + 1 - s0] = pair
                        a_mate, b_mate = (s, s + 1) if along else (s + 1, s)
                        _mark_vertex(vertex_mark, vertex_mate, v - v0, pair, a_mate)
                        _mark_vertex(vertex_mark, vertex_mate, v + 1 - v0, pair, b_mate)
                        edges += edge_mark[v - v0] != pair
                        edge_mark[v - v0] = pair
                        other_edges += other_edge[s - s0] >> 1 != pair
                        other_edge[s - s0] = 2 * pair + (not along)
                        if sub_simple:
                            guess = s + 1 if along else s - 1
                            break
                    s, how = _next_meeting(p, v, c, s + 1, end, lines)
    if touching:
        _close_publication(pub, q, v0, pair, vertex_mark, vertex_mate)
        _close_candidate(sub, g, s0, pair, other_vertex)
    return Contacts(crossing, unclear, touching, same, opposite, inner, edges, other_edges)


NO_CONTACTS: Final = Contacts(False, False, False, False, False, False, 0, 0)


class Sides(NamedTuple):
    """On which sides of the candidate's boundary the publication's edges run."""

    inside: bool
    outside: bool
    unclear: bool


@njit(cache=True, forceinline=True, _nrt=False)
def _side_at_corner(sub: Shapes, g: int, s: int, x: float, y: float) -> int:
    """Does the direction from g's vertex s towards (x, y) lead inside g? INSIDE, OUTSIDE, UNSURE.

    The interior lies left of the ring; a direction along an edge is not decided.
    """
    if s == _AMBIGUOUS:
        return UNSURE
    xy = sub.xy
    first, last = path_range(sub, g)
    for path in range(first, last):
        a, b = sub.path_off[path], sub.path_off[path + 1] - 1
        if not a <= s <= b:
            continue
        s = a if s == b else s
        before = s - 1 if s > a else b - 1
        turn = orientation(
            xy[before, 0], xy[before, 1], xy[s, 0], xy[s, 1], xy[s + 1, 0], xy[s + 1, 1]
        )
        side_in = orientation(xy[before, 0], xy[before, 1], xy[s, 0], xy[s, 1], x, y)
        side_out = orientation(xy[s, 0], xy[s, 1], xy[s + 1, 0], xy[s + 1, 1], x, y)
        if turn % 2 == 0 or side_in % 2 == 0 or side_out % 2 == 0:
            return UNSURE
        if turn > 0:
            return INSIDE if side_in > 0 and side_out > 0 else OUTSIDE
        return INSIDE if side_in > 0 or side_out > 0 else OUTSIDE
    return UNSURE


@njit(cache=True, forceinline=True, _nrt=False)
def _in_leaf(x: float, y: float, x0: float, y0: float, h: float) -> bool:
    return (
        x >= x0 - QUERY_MARGIN
        and x <= x0 + h + QUERY_MARGIN
        and y >= y0 - QUERY_MARGIN
        and y <= y0 + h + QUERY_MARGIN
    )


@njit(cache=True, forceinline=True, _nrt=False)
def find_sides(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, pair: int,
    inside: bool, outside: bool, enough: bool, uniform: bool, work: Work,
) -> Sides:  # fmt: skip
    """Say on which sides of area g the publication's edges run, after contacts were found.

    No edge crosses the boundary of g, so an edge that is not shared lies on one side. A free end
    tells which; between two shared vertices, the corner of g does. Edges in leaves that g covers,
    or is absent from, were counted by the walk: `inside` and `outside` say so at the start.
    `enough` says that to find the inside is the end of the search, `uniform` that all edges run on
    one side.
    """
    arena, leaf_lists, link_next = work.arena, work.leaf, work.link_next
    link_leaf, link_entry = work.link_leaf, work.link_entry
    vertex_mark, vertex_mate, edge_mark = work.vertex_mark, work.vertex_mate, work.edge_mark
    p = pub.xy
    v0 = pub.path_off[path_range(pub, q)[0]]
    link = work.head[u]
    while link >= 0:
        if (inside and (outside or enough)) or (uniform and (inside or outside)):
            break
        leaf, t = link_leaf[link], link_entry[link]
        link = link_next[link]
        h = side(leaf_lists[leaf, _LEVEL])
        x0 = ORIGIN + leaf_lists[leaf, _COLUMN] * h
        y0 = ORIGIN + leaf_lists[leaf, _ROW] * h
        for m in range(leaf_lists[leaf, _FIRST], leaf_lists[leaf, _LAST]):
            v = arena[m]
            if edge_mark[v - v0] == pair:
                continue
            a_shared = vertex_mark[v - v0] == pair
            b_shared = vertex_mark[v + 1 - v0] == pair
            if a_shared and b_shared:
                mate = vertex_mate[v - v0]
                place = _side_at_corner(sub, g, mate, p[v + 1, 0], p[v + 1, 1])
            else:
                x, y = (p[v + 1, 0], p[v + 1, 1]) if a_shared else (p[v, 0], p[v, 1])
                if not _in_leaf(x, y, x0, y0, h):
                    if a_shared or b_shared:
                        continue  # the free end is seen in its own leaf
                    x, y = p[v + 1, 0], p[v + 1, 1]
                    if not _in_leaf(x, y, x0, y0, h):
                        continue
                place = locate(trie, sub.xy, t, x0 + REFERENCE_X * h, y0 + REFERENCE_Y * h, x, y)
            if place == INSIDE:
                inside = True
            elif place == OUTSIDE:
                outside = True
            else:
                return Sides(inside, outside, True)
            if uniform or (inside and (outside or enough)):
                break
    return Sides(inside, outside, False)
