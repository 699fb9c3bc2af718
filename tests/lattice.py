"""Seeded makers of valid geometries on coarse integer grids.

On a small grid two random geometries often touch, coincide, share edges or have a vertex of
one on an edge of the other: the cases in which matching goes wrong. Everything is drawn on
integers, then scaled; an inexact step moves what was collinear by an ulp, which is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

__all__ = [
    "FRAMES",
    "KINDS",
    "border_points",
    "lattice_geometries",
    "nudged",
    "points_of",
    "rewritten",
    "with_midpoints",
]

Geometries = NDArray[np.object_]
Maker = Callable[[np.random.Generator, int], Any]

KINDS = ("point", "multipoint", "line", "multiline", "polygon", "multipolygon")
FRAMES: tuple[tuple[float, tuple[float, float]], ...] = (
    (1.0, (0.0, 0.0)),
    (1 / 64, (-2.5, 51.0)),
    (2.0, (-180.0, -90.0)),
    (0.01, (-0.03, -0.03)),
    (0.37, (-2.5, 0.0)),
    (0.001, (51.123456, -33.7)),
    (1e-6, (13.377704, 52.516275)),
    (1 / 3, (177.5, 87.5)),
)
"""Steps and offsets: the first three are exact in binary, the others are not."""

_TYPE_NAMES = {
    "point": "Point",
    "multipoint": "MultiPoint",
    "line": "LineString",
    "multiline": "MultiLineString",
    "polygon": "Polygon",
    "multipolygon": "MultiPolygon",
}


def lattice_geometries(
    rng: np.random.Generator,
    n: int,
    step: float = 1.0,
    offset: tuple[float, float] = (0.0, 0.0),
    kinds: Sequence[str] = KINDS,
    span: int = 7,
) -> Geometries:
    """Draw n valid geometries with vertices on a grid of `span` steps from `offset`."""
    found = np.empty(0, dtype=object)
    while len(found) < n:
        drawn = [_draw(rng, str(kind), span) for kind in rng.choice(list(kinds), n)]
        kept = np.array([g for g in drawn if g is not None], dtype=object)
        found = np.concatenate([found, _placed(kept, step, offset)])
    return found[:n]


def _draw(rng: np.random.Generator, kind: str, span: int) -> Any:
    makers = _MAKERS[kind]
    geometry = makers[rng.integers(len(makers))](rng, span)
    return geometry if geometry.geom_type == _TYPE_NAMES[kind] else None


def _placed(geometries: Geometries, step: float, offset: tuple[float, float]) -> Geometries:
    moved = shapely.transform(geometries, lambda xy: xy * step + np.array(offset))
    valid: Geometries = moved[shapely.is_valid(moved)]
    return valid


def points_of(rng: np.random.Generator, geometries: Geometries, n: int) -> Geometries:
    """Points on vertices and at the midpoints between successive vertices."""
    xy = shapely.get_coordinates(geometries)
    at = rng.integers(0, len(xy), n)
    middle = (xy[at] + xy[(at + 1) % len(xy)]) / 2
    return np.asarray(shapely.points(np.where(rng.random((n, 1)) < 0.5, xy[at], middle)))


def border_points(rng: np.random.Generator, n: int, deepest: int = 20) -> Geometries:
    """Points on borders of square cells of side 2/2^k, on the poles and at 180 degrees."""
    side = 2.0 / 2.0 ** rng.integers(0, deepest + 1, (n, 1))
    xy = np.round(rng.uniform((-180, -90), (180, 90), (n, 2)) / side) * side
    free = rng.uniform((-180, -90), (180, 90), (n, 2))
    xy = np.where(rng.random((n, 2)) < 0.2, free, xy)
    extreme = rng.choice([-1.0, 1.0], (n, 2)) * np.array([180.0, 90.0])
    return np.asarray(shapely.points(np.where(rng.random((n, 2)) < 0.1, extreme, xy)))


def rewritten(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    """The same point sets written otherwise: reversed, normalised, or with more vertices."""
    ways = [shapely.reverse, shapely.normalize, lambda g: shapely.segmentize(g, _half_size(g))]
    way = rng.integers(len(ways), size=len(geometries))
    written = np.array([ways[w](g) for w, g in zip(way, geometries, strict=True)], dtype=object)
    valid: Geometries = written[shapely.is_valid(written)]
    return valid


def with_midpoints(geometries: Geometries, times: int) -> Geometries:
    """The same geometries, every edge halved so many times; points stay as they are."""
    return np.array([_halved(geometry, times) for geometry in geometries], dtype=object)


def _halved(geometry: Any, times: int) -> Any:
    if shapely.get_dimensions(geometry) == 0:
        return geometry
    if hasattr(geometry, "geoms"):
        return type(geometry)([_halved(part, times) for part in geometry.geoms])
    if geometry.geom_type == "Polygon":
        holes = [_halved(ring, times) for ring in geometry.interiors]
        return shapely.Polygon(_halved(geometry.exterior, times), holes)
    xy = shapely.get_coordinates(geometry)
    for _ in range(times):
        halves = np.empty((2 * len(xy) - 1, 2))
        halves[::2], halves[1::2] = xy, (xy[:-1] + xy[1:]) / 2
        xy = halves
    return type(geometry)(xy)


def _half_size(geometry: Any) -> float:
    west, south, east, north = shapely.bounds(geometry)
    return float(max(east - west, north - south, 1e-9) / 2)


def nudged(rng: np.random.Generator, geometries: Geometries) -> Geometries:
    """Copies with some vertices moved to a neighbouring double; only the valid ones.

    Equal vertices of one geometry move together, so that rings stay closed. Zero stays: its
    neighbours are subnormal, where no floating-point test of orientation is exact.
    """

    def shift(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        spots, at = np.unique(xy, axis=0, return_inverse=True)
        towards = rng.choice([-np.inf, np.inf], spots.shape)
        chosen = (rng.random(spots.shape) < 0.3) & (spots != 0)
        spots = np.where(chosen, np.nextafter(spots, towards), spots)
        moved: NDArray[np.float64] = np.clip(spots, (-180, -90), (180, 90))[at.reshape(-1)]
        return moved

    copies = np.array([shapely.transform(g, shift) for g in geometries], dtype=object)
    valid: Geometries = copies[shapely.is_valid(copies)]
    return valid


def _spots(rng: np.random.Generator, span: int, n: int | np.integer[Any]) -> NDArray[np.float64]:
    return rng.integers(0, span + 1, (n, 2)).astype(np.float64)


def _point(rng: np.random.Generator, span: int) -> Any:
    return shapely.points(rng.integers(0, 2 * span + 1, 2) / 2)


def _multipoint(rng: np.random.Generator, span: int) -> Any:
    spots = _spots(rng, span, rng.integers(1, 6))
    return shapely.multipoints(spots[rng.integers(0, len(spots), len(spots) + 1)])


def _walk(rng: np.random.Generator, span: int) -> Any:
    """A line that may cross itself, go back on itself, or repeat a vertex."""
    return shapely.linestrings(_spots(rng, span, rng.integers(2, 6)))


def _straight(rng: np.random.Generator, span: int) -> Any:
    ends = _spots(rng, span, 2)
    ends[1, rng.integers(2)] = ends[0, rng.integers(2)]
    return shapely.linestrings(np.vstack([ends, ends[1:]]))


def _closed_line(rng: np.random.Generator, span: int) -> Any:
    spots = _spots(rng, span, rng.integers(3, 6))
    return shapely.linestrings(np.vstack([spots, spots[:1]]))


def _outline(rng: np.random.Generator, span: int) -> Any:
    return shapely.get_exterior_ring(shapely.box(*_corners(rng, span)))


def _star_of_lines(rng: np.random.Generator, span: int) -> Any:
    """Lines from one spot: with an even number of ends there, it is no boundary (mod 2)."""
    centre, *ends = _spots(rng, span, rng.integers(3, 6))
    return shapely.multilinestrings([shapely.linestrings([centre, end]) for end in ends])


def _chain_of_lines(rng: np.random.Generator, span: int) -> Any:
    spots = _spots(rng, span, rng.integers(3, 6))
    lines = [shapely.linestrings(pair) for pair in pairwise(spots)]
    return shapely.multilinestrings(lines)


def _loose_lines(rng: np.random.Generator, span: int) -> Any:
    lines = [_walk(rng, span) for _ in range(rng.integers(1, 4))]
    repeated = lines[:1] if rng.random() < 0.2 else []
    return shapely.multilinestrings(lines + repeated)


def _corners(rng: np.random.Generator, span: int) -> tuple[float, float, float, float]:
    x, y = rng.integers(0, span, 2)
    width, height = rng.integers(1, span - max(x, y) + 1, 2)
    return float(x), float(y), float(x + width), float(y + height)


def _box(rng: np.random.Generator, span: int) -> Any:
    return shapely.box(*_corners(rng, span), ccw=bool(rng.integers(2)))


def _triangle(rng: np.random.Generator, span: int) -> Any:
    return shapely.polygons(_spots(rng, span, 3))


def _around(rng: np.random.Generator, span: int) -> Any:
    """A polygon that goes around a centre: many slopes, some reflex corners."""
    spots = np.unique(_spots(rng, span, rng.integers(4, 9)), axis=0)
    if len(spots) < 3:
        return _triangle(rng, span)
    towards = spots - spots.mean(axis=0)
    return shapely.polygons(spots[np.argsort(np.arctan2(towards[:, 1], towards[:, 0]))])


def _cells(rng: np.random.Generator, span: int) -> Any:
    """A union of grid cells: holes, holes at the shell, parts that touch at corners."""
    side = int(rng.integers(2, min(span, 4) + 1))
    x, y = rng.integers(0, span - side + 1, 2)
    taken = np.argwhere(rng.random((side, side)) < 0.6)
    if not len(taken):
        taken = np.array([[0, 0]])
    low = taken + np.array([x, y])
    return shapely.union_all(shapely.box(low[:, 0], low[:, 1], low[:, 0] + 1, low[:, 1] + 1))


def _with_hole(rng: np.random.Generator, span: int) -> Any:
    """A box less a triangle: the hole may touch the shell, open it, or cut it in two."""
    return shapely.difference(shapely.box(0, 0, span, span), _triangle(rng, span))


def _pierced(rng: np.random.Generator, span: int) -> Any:
    """A ring with one to three triangular holes, some touching each other or the shell."""
    holes = [_triangle(rng, span) for _ in range(rng.integers(1, 4))]
    return shapely.polygons(
        shapely.linearrings([(0, 0), (span, 0), (span, span), (0, span), (0, 0)]),
        [shapely.get_exterior_ring(hole) for hole in holes],
    )


def _several(rng: np.random.Generator, span: int) -> Any:
    makers = (_box, _triangle, _around)
    count = rng.integers(1, 4)
    parts = [makers[rng.integers(len(makers))](rng, max(2, span // 2)) for _ in range(count)]
    shifts = rng.integers(0, span // 2 + 1, (count, 2))
    return shapely.multipolygons(
        [
            shapely.transform(part, lambda xy, by=shift: xy + by)
            for part, shift in zip(parts, shifts, strict=True)
        ]
    )


def _island_in_hole(rng: np.random.Generator, span: int) -> Any:
    outer = shapely.difference(shapely.box(0, 0, span, span), shapely.box(1, 1, span - 1, span - 1))
    inner = _around(rng, span - 2)
    return shapely.multipolygons([outer, shapely.transform(inner, lambda xy: xy + 1)])


_MAKERS: dict[str, tuple[Maker, ...]] = {
    "point": (_point,),
    "multipoint": (_multipoint,),
    "line": (_walk, _straight, _closed_line, _outline),
    "multiline": (_star_of_lines, _chain_of_lines, _loose_lines),
    "polygon": (_box, _triangle, _around, _cells, _with_hole, _pierced),
    "multipolygon": (_cells, _several, _with_hole, _island_in_hole),
}
