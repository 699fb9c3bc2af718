"""The relation of one publication and one candidate, after the walk.

Facts are gathered in the order of their price, and the decision falls as soon as they are enough:
the leaves that the candidate covers, shares, is absent from; the contacts in shared leaves; the
sides on which the publication's edges run; and last, where parts of the candidate lie in the
publication. All facts are exact; where one is missing the answer is DOUBT.

For two areas: a boundary edge of the publication q inside the candidate g has both interior and
exterior of q beside it, inside g; one outside g has interior of q outside g. So inside and outside
together, or a proper crossing, mean overlap. Edges that run only inside (or on the rim) mean
within, unless g has holes or parts that reach into q. With no edge inside g, each part of g is
wholly inside or outside q.

For a line and an area only sides matter: points of the line inside and outside the area make them
cross; inside alone is within (contains); outside alone touches if there is contact; neither lies
on the rim. A proper crossing has points on both sides, as a valid area's boundary separates them.

For two lines: with no contact but crossings, shared vertices and whole shared edges, each edge is
either shared or meets the other line in single points. So one covers the other if and only if all
of the other's edges are shared; without shared edges the interiors meet in points (cross) or not
at all (touch).
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
    PENDING,
    TOUCHES,
    WITHIN,
    bit,
)
from geocast.match.relate.contact import (
    NO_CONTACTS,
    Contacts,
    Sides,
    find_contacts,
    find_sides,
    is_shared_edge,
)
from geocast.match.relate.facts import EXCEEDS, FALSE_BY_LEAVES, MEET
from geocast.match.relate.strips import place_in_publication
from geocast.match.relate.work import Work
from geocast.model import Predicate

__all__ = ["decide"]

_NEEDS_OUTSIDE: Final = bit(
    Predicate.WITHIN, Predicate.OVERLAPS, Predicate.COVEREDBY, Predicate.CROSSES
)
"""Predicates that, once the interiors are known to meet, ask whether the publication leaves g."""


@njit(cache=True, forceinline=True, _nrt=False)
def decide(
    trie: Trie, pub: Shapes, q: int, sub: Shapes, g: int, u: int, need: int, leaves: int,
    touchy: bool, pair: int, work: Work,
) -> int:  # fmt: skip
    """Return the relation of publication q and geometry g, which is candidate u of the walk.

    `need` is the mask of predicates that are asked; the answer is right for those. `touchy` says
    that rings of one of them may touch: then a crossing proves something only if no edge comes
    near another's end.
    """
    dp, ds = pub.dim[q], sub.dim[g]
    covered, shared = work.covered[u], work.shared[u]
    first, last = path_range(sub, g)
    relation = _by_leaves(dp, ds, covered, shared, leaves, need, last - first)
    contacts = NO_CONTACTS
    sides = Sides(covered > 0, leaves - covered - shared > 0, False)
    if relation == PENDING and ds > 0 and shared > 0:
        contacts = find_contacts(
            trie, pub, q, sub, g, u, pair, not touchy and dp + ds > 2, not touchy and ds == 2, work
        )
        if dp == 1 and ds == 1:
            relation = _of_lines(contacts, _edge_count(pub, q), _edge_count(sub, g))
        else:
            relation = _by_contacts(dp, ds, contacts, touchy, need)
        if relation == PENDING and ds == 2:
            enough = contacts.opposite and dp == 2
            own_first, own_last = path_range(pub, q)
            uniform = own_last - own_first == 1 and not contacts.touching
            sides = find_sides(
                trie, pub, q, sub, g, u, pair, sides.inside, sides.outside, enough, uniform, work
            )
            relation = _by_sides(dp, sides, contacts, need, last - first)
    if relation == PENDING:
        relation = _by_location(pub, q, sub, g, u, contacts, sides, pair, work)
    return relation


@njit(cache=True)
def _by_leaves(
    dp: int, ds: int, covered: int, shared: int, leaves: int, need: int, rings: int
) -> int:
    """Decide by how many leaves the candidate covers, shares and is absent from."""
    if ds < 2:
        return DISJOINT if dp == 1 and ds == 1 and shared == 0 else PENDING
    outside = leaves - covered - shared > 0
    if covered > 0:
        if outside:
            return OVERLAPS if dp == 2 else CROSSES
        if need & _NEEDS_OUTSIDE == 0:
            return INTERSECTS_ONLY
        return WITHIN if shared == 0 and (rings == 1 or dp == 1) else PENDING
    if dp == 1:
        return DISJOINT if shared == 0 else PENDING
    return NOTHING if outside and need & ~FALSE_BY_LEAVES == 0 else PENDING


@njit(cache=True)
def _by_contacts(dp: int, ds: int, contacts: Contacts, touchy: bool, need: int) -> int:
    """Decide by contacts where an area takes part."""
    if contacts.crossing and not (touchy and contacts.unclear):
        return OVERLAPS if dp + ds == 4 else CROSSES
    if contacts.unclear:
        return DOUBT
    if contacts.touching and need == INTERSECTS_ONLY:
        return INTERSECTS_ONLY
    return PENDING


@njit(cache=True)
def _of_lines(contacts: Contacts, edges: int, other_edges: int) -> int:
    """Decide for two lines, given how many edges they have."""
    if contacts.unclear:
        return DOUBT
    if contacts.edges > 0:
        covers = contacts.other_edges == other_edges
        if contacts.edges == edges:
            return EQUAL if covers else WITHIN
        return CONTAINS if covers else OVERLAPS
    if contacts.crossing or contacts.inner:
        return CROSSES
    return TOUCHES if contacts.touching else DISJOINT


@njit(cache=True)
def _by_sides(dp: int, sides: Sides, contacts: Contacts, need: int, rings: int) -> int:
    """Decide by the sides of the candidate, an area, on which the publication's edges run."""
    if sides.unclear:
        return DOUBT
    if dp == 1:
        if sides.inside:
            return CROSSES if sides.outside else WITHIN
        if contacts.touching:
            return TOUCHES if sides.outside else ON_RIM
        return DISJOINT
    if not sides.inside:
        return PENDING
    if sides.outside or contacts.opposite:
        return OVERLAPS
    if need & _NEEDS_OUTSIDE == 0:
        return INTERSECTS_ONLY
    return WITHIN if rings == 1 else PENDING


@njit(cache=True, forceinline=True, _nrt=False)
def _by_location(
    pub: Shapes, q: int, sub: Shapes, g: int, u: int, contacts: Contacts, sides: Sides, pair: int,
    work: Work,
) -> int:  # fmt: skip
    """Decide by where points, edges or parts of the candidate lie in the publication."""
    if sub.dim[g] == 0:
        return _with_points(pub, q, sub, g, work)
    if sub.dim[g] == 2 and not sides.inside:
        return _with_parts(pub, q, sub, g, contacts, sides.outside, work.facts[u], pair, work)
    inside, outside, unclear = _candidate_sides(pub, q, sub, g, contacts.touching, pair, work)
    if sub.dim[g] == 2:  # the rim of q runs inside g: is any of g's rim inside q?
        if inside:
            return OVERLAPS
        return DOUBT if unclear else WITHIN
    if unclear and not (inside and outside):
        return DOUBT
    return _of_lower(inside, contacts.touching, outside)


@njit(cache=True, forceinline=True, _nrt=False)
def _of_lower(inside: bool, on: bool, outside: bool) -> int:
    """The relation to a geometry of lower dimension, by where its points lie in the publication."""
    if inside:
        return CROSSES if outside else CONTAINS
    if on:
        return TOUCHES if outside else COVERS_RIM
    return DISJOINT


@njit(cache=True, forceinline=True, _nrt=False)
def _with_points(pub: Shapes, q: int, sub: Shapes, g: int, work: Work) -> int:
    """A line or area against points: locate each point in the publication."""
    first, last = path_range(sub, g)
    inside = on = outside = unclear = False
    for s in range(sub.path_off[first], sub.path_off[last]):
        place = place_in_publication(pub, q, sub.xy[s, 0], sub.xy[s, 1], work)
        inside = inside or place == INSIDE
        on = on or place == ON
        outside = outside or place == OUTSIDE
        unclear = unclear or (place != INSIDE and place != ON and place != OUTSIDE)
    return DOUBT if unclear else _of_lower(inside, on, outside)


@njit(cache=True, forceinline=True, _nrt=False)
def _candidate_sides(
    pub: Shapes, q: int, sub: Shapes, g: int, touching: bool, pair: int, work: Work
) -> tuple[bool, bool, bool]:
    """Say whether edges of g, which cross no edge of q, run inside or outside q, or neither.

    Between two contacts g stays on one side, so one vertex a stretch is enough.
    """
    inside = outside = unclear = False
    first, last = path_range(sub, g)
    s0 = sub.path_off[first]
    for path in range(first, last):
        located = False
        for s in range(sub.path_off[path], sub.path_off[path + 1]):
            if inside and outside:
                break
            if touching and work.other_vertex[s - s0] == pair:
                located = False
                at_end = s + 1 == sub.path_off[path + 1]
                if not at_end and work.other_vertex[s + 1 - s0] == pair:
                    unclear = unclear or not is_shared_edge(work, s - s0, pair)
                continue
            if located:
                if not touching:
                    break
                continue
            located = True
            place = place_in_publication(pub, q, sub.xy[s, 0], sub.xy[s, 1], work)
            inside = inside or place == INSIDE
            outside = outside or place == OUTSIDE
            unclear = unclear or (place != INSIDE and place != OUTSIDE)
    return inside, outside, unclear


@njit(cache=True, forceinline=True, _nrt=False)
def _edge_count(shapes: Shapes, g: int) -> int:
    first, last = path_range(shapes, g)
    return shapes.path_off[last] - shapes.path_off[first] - (last - first)


@njit(cache=True, forceinline=True, _nrt=False)
def _with_parts(
    pub: Shapes, q: int, sub: Shapes, g: int, contacts: Contacts, outside: bool, facts: int,
    pair: int, work: Work,
) -> int:  # fmt: skip
    """No edge of q runs inside g: each part of g is inside q, or outside, as a whole.

    outside: edges of q run outside g, and so some of its interior does. `facts` are those of
    geocast.match.relate.facts; with no vertex of q inside g, MEET comes from a vertex of g.
    """
    outside = outside or contacts.opposite
    single = sub.geom_off[g + 1] - sub.geom_off[g] == 1
    unclear = single and contacts.same and contacts.opposite
    some_in = some_out = False
    for part in range(sub.geom_off[g], sub.geom_off[g + 1]):
        if single and facts & EXCEEDS:
            place = OUTSIDE
        elif single and facts & MEET:
            place = INSIDE
        else:
            place = _place_of_part(pub, q, sub, g, part, contacts.touching, pair, work)
        if place == INSIDE:
            some_in = True
            outside = outside or _has_free_edge(sub, g, part, contacts.touching, pair, work)
        elif place == OUTSIDE:
            some_out = True
        else:
            unclear = True
    if unclear:
        return DOUBT
    if not some_in:
        return TOUCHES if contacts.touching else DISJOINT
    if some_out:
        return OVERLAPS if outside else WITHIN
    return CONTAINS if outside else EQUAL


@njit(cache=True, forceinline=True, _nrt=False)
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


@njit(cache=True, forceinline=True, _nrt=False)
def _has_free_edge(sub: Shapes, g: int, part: int, touching: bool, pair: int, work: Work) -> bool:
    """Has this part of g, which lies inside q, a boundary edge that is not also q's?"""
    if not touching:
        return True
    s0 = sub.path_off[path_range(sub, g)[0]]
    for path in range(sub.part_off[part], sub.part_off[part + 1]):
        for s in range(sub.path_off[path], sub.path_off[path + 1] - 1):
            if not is_shared_edge(work, s - s0, pair):
                return True
    return False
