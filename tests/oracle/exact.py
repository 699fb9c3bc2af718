"""The DE-9IM matrix of two geometries in exact rational arithmetic.

GEOS rounds crossing points, and errs where rings of an area touch each other at a point that
is no vertex of both. Where it and the product differ, this decides. Every double is a
rational number, so nothing is rounded here.

The two geometries cut the plane into points, edges and faces. Each such cell lies wholly in
the interior, the boundary or the exterior of either geometry; one sample of each cell tells
where, and an entry of the matrix is the highest dimension among the cells that fall into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import shapely

__all__ = ["MASKS", "exact_relate", "matrix_holds"]

Spot = tuple[Fraction, Fraction]
Segment = tuple[Spot, Spot]


@dataclass(frozen=True)
class _Figure:
    """A geometry as segments and lone points; `ends` are the boundary points of lines."""

    dimension: int
    segments: tuple[Segment, ...]
    points: frozenset[Spot]
    ends: frozenset[Spot]

    def locate(self, spot: Spot) -> int:
        """0 in the interior, 1 on the boundary, 2 in the exterior."""
        if self.dimension == 0:
            return 0 if spot in self.points else 2
        on = any(_is_on(spot, segment) for segment in self.segments)
        if self.dimension == 1:
            return 2 if not on else int(spot in self.ends)
        return 1 if on else (0 if _is_inside(spot, self.segments) else 2)


def exact_relate(first: Any, second: Any) -> str:
    """The nine entries, row by row, as shapely.relate writes them."""
    a, b = _figure(first), _figure(second)
    edges = _arrangement([*a.segments, *b.segments], a.points | b.points)
    nodes = {spot for edge in edges for spot in edge} | a.points | b.points
    cells = [(0, node) for node in nodes] + [(1, _middle(*edge)) for edge in edges]
    if max(a.dimension, b.dimension) == 2:
        obstacles = [*edges, *((point, point) for point in a.points | b.points)]
        cells += [(2, spot) for edge in edges for spot in _beside(edge, obstacles)]
    matrix = [-1] * 9
    matrix[8] = 2
    for dimension, spot in cells:
        entry = 3 * a.locate(spot) + b.locate(spot)
        matrix[entry] = max(matrix[entry], dimension)
    return "".join("F" if entry < 0 else str(entry) for entry in matrix)


def matrix_holds(predicate: str, matrix: str, dimensions: tuple[int, int]) -> bool:
    """Whether a matrix satisfies a predicate, by the masks of OGC 06-103r4."""
    first, second = dimensions
    masks = MASKS.get(predicate, ())
    if predicate == "disjoint":
        return not matrix_holds("intersects", matrix, dimensions)
    if predicate == "crosses":
        masks = {True: ("T*T******",), False: ("T*****T**",)}[first < second]
        if first == second:
            masks = ("0********",) if first == 1 else ()
    if predicate == "overlaps":
        masks = () if first != second else (("1*T***T**",) if first == 1 else ("T*T***T**",))
    return any(_fits(matrix, mask) for mask in masks)


MASKS = {
    "equals": ("T*F**FFF*",),
    "touches": ("FT*******", "F**T*****", "F***T****"),
    "within": ("T*F**F***",),
    "contains": ("T*****FF*",),
    "intersects": ("T********", "*T*******", "***T*****", "****T****"),
    "covers": ("T*****FF*", "*T****FF*", "***T**FF*", "****T*FF*"),
    "coveredby": ("T*F**F***", "*TF**F***", "**FT*F***", "**F*TF***"),
}


def _fits(matrix: str, mask: str) -> bool:
    return all(
        wanted == "*" or (wanted == "T" and entry != "F") or wanted == entry
        for entry, wanted in zip(matrix, mask, strict=True)
    )


def _figure(geometry: Any) -> _Figure:
    dimension = int(shapely.get_dimensions(geometry))
    paths = [_spots(path) for path in _paths(geometry, dimension)]
    if dimension == 0:
        return _Figure(0, (), frozenset(spot for path in paths for spot in path), frozenset())
    segments = tuple(pair for path in paths for pair in pairwise(path) if pair[0] != pair[1])
    ends = Counter(end for path in paths for end in (path[0], path[-1]))
    odd = frozenset(end for end, count in ends.items() if count % 2)
    return _Figure(dimension, segments, frozenset(), odd if dimension == 1 else frozenset())


def _paths(geometry: Any, dimension: int) -> Iterable[Any]:
    parts = shapely.get_parts(geometry)
    return list(shapely.get_rings(parts) if dimension == 2 else parts)


def _spots(path: Any) -> list[Spot]:
    return [(Fraction(x), Fraction(y)) for x, y in shapely.get_coordinates(path).tolist()]


def _arrangement(segments: Sequence[Segment], points: Iterable[Spot]) -> list[Segment]:
    """Cut segments at all places where they meet each other or a point."""
    edges: set[Segment] = set()
    for segment in segments:
        cuts = {spot for other in segments for spot in _meetings(segment, other)}
        cuts |= {spot for spot in points if _is_on(spot, segment)} | set(segment)
        edges |= set(pairwise(sorted(cuts)))
    return list(edges)


def _meetings(one: Segment, other: Segment) -> list[Spot]:
    found = [spot for spot in other if _is_on(spot, one)]
    crossing = _crossing(one, other)
    return found if crossing is None else [*found, crossing]


def _crossing(one: Segment, other: Segment) -> Spot | None:
    """The point where two segments cross, if they are not parallel."""
    (px, py), (qx, qy) = one
    (rx, ry), (sx, sy) = other
    across = (qx - px) * (sy - ry) - (qy - py) * (sx - rx)
    if across == 0:
        return None
    t = ((rx - px) * (sy - ry) - (ry - py) * (sx - rx)) / across
    u = ((rx - px) * (qy - py) - (ry - py) * (qx - px)) / across
    if not (0 <= t <= 1 and 0 <= u <= 1):
        return None
    return px + t * (qx - px), py + t * (qy - py)


def _turn(a: Spot, b: Spot, c: Spot) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _is_on(spot: Spot, segment: Segment) -> bool:
    (px, py), (qx, qy) = segment
    x, y = spot
    if not (min(px, qx) <= x <= max(px, qx) and min(py, qy) <= y <= max(py, qy)):
        return False
    return _turn(*segment, spot) == 0


def _is_inside(spot: Spot, segments: Iterable[Segment]) -> bool:
    """Parity of crossings of the ray to the right; the spot lies on no segment."""
    inside = False
    for low, high in segments:
        if low[1] > high[1]:
            low, high = high, low
        if low[1] <= spot[1] < high[1] and _turn(low, high, spot) > 0:
            inside = not inside
    return inside


def _middle(p: Spot, q: Spot) -> Spot:
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


def _beside(edge: Segment, obstacles: Sequence[Segment]) -> list[Spot]:
    """A spot in the face on either side: half-way to what is next in the normal direction."""
    x, y = _middle(*edge)
    across = (edge[0][1] - edge[1][1], edge[1][0] - edge[0][0])
    spots = []
    for sign in (1, -1):
        nx, ny = sign * across[0], sign * across[1]
        nearest = min(
            (t for other in obstacles if (t := _distance((x, y), (nx, ny), other)) is not None),
            default=Fraction(2),
        )
        spots.append((x + nx * nearest / 2, y + ny * nearest / 2))
    return spots


def _distance(spot: Spot, along: Spot, segment: Segment) -> Fraction | None:
    """How far (in multiples of `along`) a ray goes until it meets a segment; None if never."""
    (px, py), (qx, qy) = segment
    dx, dy = qx - px, qy - py
    across = along[0] * dy - along[1] * dx
    rx, ry = px - spot[0], py - spot[1]
    if across == 0:
        if rx * along[1] - ry * along[0] != 0:
            return None
        size = along[0] ** 2 + along[1] ** 2
        ahead = [((x - spot[0]) * along[0] + (y - spot[1]) * along[1]) / size for x, y in segment]
        return min((t for t in ahead if t > 0), default=None)
    t = (rx * dy - ry * dx) / across
    u = (rx * along[1] - ry * along[0]) / across
    return t if t > 0 and 0 <= u <= 1 else None
