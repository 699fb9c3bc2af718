"""The relation of one publication and one candidate, after the walk.

Four decisions by dimension (area-area, line-area, area-line, line-line), and one for candidates
that are points. Each uses only facts that are exact; where a fact is missing the answer is DOUBT.

The facts come from the walk (leaves that the candidate covers, shares, is absent from) and from
the contacts in the shared leaves. Each decision lists why its facts decide.
"""

from __future__ import annotations

from typing import Final

from numba import njit

from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import INSIDE, ON, OUTSIDE, Trie
from geocast.match.predicate.relation import (
    CONTAINS,
    COVERS_RIM,
    CROSSES,
    DISJOINT,
    DOUBT,
    EQUAL,
    INTERSECTS_ONLY,
    NOTHING,
    ON_RIM,
    OVERLAPS,
    TOUCHES,
    WITHIN,
    bit,
)
from geocast.match.relate.contact import find_contacts, find_sides, is_shared_edge
from geocast.match.relate.strips import build_strips, place_in_publication
from geocast.match.relate.work import Work
from geocast.model import Predicate

__all__ = ["NEEDS_OUTSIDE", "decide"]

NEEDS_OUTSIDE: Final = bit(
    Predicate.WITHIN, Predicate.OVERLAPS, Predicate.COVEREDBY, Predicate.CROSSES
)
"""Predicates that, once the interiors are known to meet, ask whether the publication leaves g."""

FALSE_OUTSIDE: Final = bit(Predicate.EQUALS, Predicate.WITHIN, Predicate.COVEREDBY)
"""Predicates that are false as soon as the publication leaves g."""


@njit(cache=True)
def decide(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, need: int, leaves: int,
    pair: int, work: Work,
) -> int:  # fmt: skip
    """Return the relation of publication q and geometry g, which is candidate u of the walk.

    `need` is the mask of predicates that stand on g and are possible for the two dimensions; the
    answer is right for those.
    """
    if sub.dim[g] == 0:
        return _with_points(pub, q, sub, g, work)
    if pub.dim[q] == 2:
        if sub.dim[g] == 2:
            return _area_area(trie, pub, q, sub, g, u, need, leaves, pair, work)
        return _area_line(trie, pub, q, sub, g, u, pair, work)
    if sub.dim[g] == 2:
        return _line_area(trie, pub, q, sub, g, u, need, leaves, pair, work)
    return _line_line(trie, pub, q, sub, g, u, pair, work)


@njit(cache=True)
def _with_points(pub: Shapes, q: int, sub: Shapes, g: int, work: Work) -> int:
    """A line or area against points: locate each point in the publication."""
    if not build_strips(pub, q, work):
        return DOUBT
    first, last = path_range(sub, g)
    inside = on = outside = False
    for s in range(sub.path_off[first], sub.path_off[last]):
        place = place_in_publication(pub, q, sub.xy[s, 0], sub.xy[s, 1], work)
        if place == INSIDE:
            inside = True
        elif place == ON:
            on = True
        elif place == OUTSIDE:
            outside = True
        else:
            return DOUBT
    return _of_lower(inside, on, outside)


@njit(cache=True, inline="always")
def _of_lower(inside: bool, on: bool, outside: bool) -> int:
    """The relation to a geometry of lower dimension, by where its points lie in the publication."""
    if inside:
        return CROSSES if outside else CONTAINS
    if on:
        return TOUCHES if outside else COVERS_RIM
    return DISJOINT


@njit(cache=True)
def _line_area(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, need: int, leaves: int,
    pair: int, work: Work,
) -> int:  # fmt: skip
    """A line against an area.

    Only the sides matter: points of the line inside g and outside g make it cross, inside alone
    within, outside alone touch (if there is contact), neither lie on the rim. A proper crossing
    has points on both sides, since the boundary of a valid area separates them.
    """
    inside = work.covered[u] > 0
    shares = work.shared[u] > 0
    outside = leaves - work.covered[u] - work.shared[u] > 0
    if inside and outside:
        return CROSSES
    if inside and need & NEEDS_OUTSIDE == 0:
        return INTERSECTS_ONLY
    if not shares:
        return WITHIN if inside else DISJOINT
    contacts = find_contacts(trie, pub, q, sub, g, u, pair, True, work)
    if contacts.crossing:
        return CROSSES
    if contacts.unclear:
        return DOUBT
    sides = find_sides(trie, pub, q, sub, g, u, pair, inside, outside, False, work)
    if sides.unclear:
        return DOUBT
    if sides.inside:
        return CROSSES if sides.outside else WITHIN
    if contacts.touching:
        return TOUCHES if sides.outside else ON_RIM
    return DISJOINT


@njit(cache=True)
def _area_line(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, pair: int, work: Work
) -> int:
    """An area against a line: the line's free vertices are located in the publication.

    Between two contacts the line stays on one side, so one vertex a stretch is enough.
    """
    touching = False
    if work.shared[u] > 0:
        contacts = find_contacts(trie, pub, q, sub, g, u, pair, True, work)
        if contacts.crossing:
            return CROSSES
        if contacts.unclear:
            return DOUBT
        touching = contacts.touching
    if not build_strips(pub, q, work):
        return DOUBT
    inside, outside, unclear = _candidate_sides(pub, q, sub, g, touching, pair, work)
    if unclear and not (inside and outside):
        return DOUBT
    return _of_lower(inside, touching, outside)


@njit(cache=True)
def _candidate_sides(
    pub: Shapes, q: int, sub: Shapes, g: int, touching: bool, pair: int, work: Work
) -> tuple[bool, bool, bool]:
    """Say whether edges of g, which cross no edge of q, run inside or outside q, or neither."""
    inside = outside = unclear = False
    first, last = path_range(sub, g)
    s0 = sub.path_off[first]
    for path in range(first, last):
        located = False
        for s in range(sub.path_off[path], sub.path_off[path + 1]):
            if touching and work.other_vertex[s - s0] == pair:
                located = False
                at_end = s + 1 == sub.path_off[path + 1]
                if not at_end and work.other_vertex[s + 1 - s0] == pair:
                    unclear = unclear or not is_shared_edge(work, s - s0, pair)
                continue
            if located:
                continue
            located = True
            place = place_in_publication(pub, q, sub.xy[s, 0], sub.xy[s, 1], work)
            inside = inside or place == INSIDE
            outside = outside or place == OUTSIDE
            unclear = unclear or (place != INSIDE and place != OUTSIDE)
            if inside and outside:
                return inside, outside, unclear
    return inside, outside, unclear


@njit(cache=True)
def _edge_count(shapes: Shapes, g: int) -> int:
    first, last = path_range(shapes, g)
    return shapes.path_off[last] - shapes.path_off[first] - (last - first)


@njit(cache=True)
def _line_line(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, pair: int, work: Work
) -> int:
    """Two lines.

    With no contact but crossings, shared vertices and whole shared edges, each edge is either
    shared or meets the other line in single points. So one line covers the other if and only if
    all of the other's edges are shared; without shared edges the interiors meet in points (cross)
    or not at all (touch).
    """
    if work.shared[u] == 0:
        return DISJOINT
    contacts = find_contacts(trie, pub, q, sub, g, u, pair, False, work)
    if contacts.unclear:
        return DOUBT
    if contacts.edges > 0:
        covered = contacts.edges == _edge_count(pub, q)
        covers = contacts.other_edges == _edge_count(sub, g)
        if covered:
            return EQUAL if covers else WITHIN
        return CONTAINS if covers else OVERLAPS
    if contacts.crossing or contacts.inner:
        return CROSSES
    return TOUCHES if contacts.touching else DISJOINT


@njit(cache=True)
def _area_area(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, need: int, leaves: int,
    pair: int, work: Work,
) -> int:  # fmt: skip
    """Two areas.

    A boundary edge of q inside g has interior of q, and exterior of q, beside it inside g; one
    outside g has interior of q outside g. So inside and outside together, or a proper crossing,
    mean overlap. Edges that run only inside (or on the rim) mean within, unless g has holes or
    parts that reach into q. With no edge inside g, each part of g is wholly inside or outside q.
    """
    first, last = path_range(sub, g)
    same = opposite = touching = False
    outside = True
    if work.covered[u] + work.shared[u] > 0:
        inside = work.covered[u] > 0
        outside = leaves - work.covered[u] - work.shared[u] > 0
        if inside:
            if outside:
                return OVERLAPS
            if need & NEEDS_OUTSIDE == 0:
                return INTERSECTS_ONLY
            if work.shared[u] == 0 and last - first == 1:
                return WITHIN
        elif outside and need & ~FALSE_OUTSIDE == 0:
            return NOTHING
        contacts = find_contacts(trie, pub, q, sub, g, u, pair, True, work)
        if contacts.crossing:
            return OVERLAPS
        if contacts.unclear:
            return DOUBT
        same, opposite, touching = contacts.same, contacts.opposite, contacts.touching
        if touching and need == INTERSECTS_ONLY:
            return INTERSECTS_ONLY
        sides = find_sides(trie, pub, q, sub, g, u, pair, inside, outside, opposite, work)
        if sides.unclear:
            return DOUBT
        outside = sides.outside
        if sides.inside:
            if outside or opposite:
                return OVERLAPS
            if need & NEEDS_OUTSIDE == 0:
                return INTERSECTS_ONLY
            if last - first == 1:
                return WITHIN
            return _inside_with_holes(pub, q, sub, g, touching, pair, work)
    elif _part_of_bounds_missed(pub, q, sub, g):
        return DISJOINT
    return _parts_of_candidate(
        pub, q, sub, g, same, opposite, touching, outside or opposite, pair, work
    )


@njit(cache=True)
def _part_of_bounds_missed(pub: Shapes, q: int, sub: Shapes, g: int) -> bool:
    """g has one part, whose bounds reach beyond q's: it is not inside q, and so apart."""
    if sub.geom_off[g + 1] - sub.geom_off[g] != 1:
        return False
    a, b = sub.bounds[g], pub.bounds[q]
    return a[0] < b[0] or a[1] < b[1] or a[2] > b[2] or a[3] > b[3]


@njit(cache=True)
def _inside_with_holes(
    pub: Shapes, q: int, sub: Shapes, g: int, touching: bool, pair: int, work: Work
) -> int:
    """The rim of q runs inside g, which has holes or parts: is any of g's rim inside q?"""
    if not build_strips(pub, q, work):
        return DOUBT
    inside, _, unclear = _candidate_sides(pub, q, sub, g, touching, pair, work)
    if inside:
        return OVERLAPS
    return DOUBT if unclear else WITHIN


@njit(cache=True)
def _parts_of_candidate(
    pub: Shapes, q: int, sub: Shapes, g: int, same: bool, opposite: bool, touching: bool,
    outside: bool, pair: int, work: Work,
) -> int:  # fmt: skip
    """No edge of q runs inside g: each part of g is inside q, or outside, as a whole.

    outside: some interior of q is known to lie outside g.
    """
    if not build_strips(pub, q, work):
        return DOUBT
    single = sub.geom_off[g + 1] - sub.geom_off[g] == 1
    some_in = some_out = False
    for part in range(sub.geom_off[g], sub.geom_off[g + 1]):
        if single and same and opposite:
            return DOUBT
        place = _place_of_part(pub, q, sub, g, part, touching, pair, work)
        if place == INSIDE:
            some_in = True
            outside = outside or _has_free_edge(sub, g, part, touching, pair, work)
        elif place == OUTSIDE:
            some_out = True
        else:
            return DOUBT
    if not some_in:
        return TOUCHES if touching else DISJOINT
    if some_out:
        return OVERLAPS if outside else WITHIN
    return CONTAINS if outside else EQUAL


@njit(cache=True)
def _place_of_part(
    pub: Shapes, q: int, sub: Shapes, g: int, part: int, touching: bool, pair: int, work: Work
) -> int:
    """Is a part of g inside q? A shared edge tells by its direction, else any free vertex."""
    s0 = sub.path_off[path_range(sub, g)[0]]
    shell, end = sub.part_off[part], sub.part_off[part + 1]
    if touching:
        for s in range(sub.path_off[shell], sub.path_off[end]):
            if is_shared_edge(work, s - s0, pair):
                return OUTSIDE if work.other_edge[s - s0] & 1 else INSIDE
    for s in range(sub.path_off[shell], sub.path_off[shell + 1] - 1):
        if not (touching and work.other_vertex[s - s0] == pair):
            return place_in_publication(pub, q, sub.xy[s, 0], sub.xy[s, 1], work)
    return ON


@njit(cache=True)
def _has_free_edge(
    sub: Shapes, g: int, part: int, touching: bool, pair: int, work: Work
) -> bool:
    """Has this part of g, which lies inside q, a boundary edge that is not also q's?"""
    if not touching:
        return True
    s0 = sub.path_off[path_range(sub, g)[0]]
    for path in range(sub.part_off[part], sub.part_off[part + 1]):
        for s in range(sub.path_off[path], sub.path_off[path + 1] - 1):
            if not is_shared_edge(work, s - s0, pair):
                return True
    return False
