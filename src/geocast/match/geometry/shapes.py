"""Many geometries as a few flat arrays, the form in which all kernels work.

A geometry is a list of parts, a part a list of paths, a path a list of vertices. A polygon part
has its shell first, then its holes; a line part has one path; all points of a (multi)point are
one path. Multi-geometries with one part are the same as that part. Rings are closed, shells turn
left and holes right, so the interior is always on the left; no vertex is repeated in a row.
The arrays can be memory-mapped, so processes share one copy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import shapely
from numba import njit
from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Shapes",
    "concatenate",
    "frozen",
    "most_vertices",
    "path_range",
    "take",
    "to_geos",
]


class Shapes(NamedTuple):
    """Flat geometries; see the module's docstring. `dim` is 0, 1 or 2."""

    xy: NDArray[np.float64]
    path_off: NDArray[np.int32]
    part_off: NDArray[np.int32]
    geom_off: NDArray[np.int32]
    dim: NDArray[np.int8]
    bounds: NDArray[np.float64]


def frozen(array: NDArray[Any], dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return the array contiguous and read-only: the one type for which kernels are compiled.

    A memory-mapped array is read-only; were arrays in memory writable, every kernel would have to
    be compiled for both.
    """
    array = np.ascontiguousarray(array, dtype).view(np.ndarray)
    if array.flags.writeable:
        array = array.view()
        array.setflags(write=False)
    return array


@njit(cache=True, inline="always")
def path_range(shapes: Shapes, g: int) -> tuple[int, int]:
    """Return the first path of geometry g and the one after its last."""
    return shapes.part_off[shapes.geom_off[g]], shapes.part_off[shapes.geom_off[g + 1]]


def most_vertices(shapes: Shapes) -> int:
    """Return the number of vertices of the largest geometry."""
    if len(shapes.dim) == 0:
        return 0
    return int(np.diff(shapes.path_off[shapes.part_off[shapes.geom_off]]).max())


@njit(cache=True)
def _copy_geometries(shapes: Shapes, ids: NDArray[np.int64], out: Shapes) -> None:
    v = path = part = 0
    out.path_off[0] = out.part_off[0] = out.geom_off[0] = 0
    for k in range(len(ids)):
        for source_part in range(shapes.geom_off[ids[k]], shapes.geom_off[ids[k] + 1]):
            for source_path in range(
                shapes.part_off[source_part], shapes.part_off[source_part + 1]
            ):
                a, b = shapes.path_off[source_path], shapes.path_off[source_path + 1]
                out.xy[v : v + b - a] = shapes.xy[a:b]
                v += b - a
                path += 1
                out.path_off[path] = v
            part += 1
            out.part_off[part] = path
        out.geom_off[k + 1] = part


def take(shapes: Shapes, ids: NDArray[np.int64]) -> Shapes:
    """Return the geometries of these numbers, in this order."""
    parts = shapes.geom_off[ids + 1] - shapes.geom_off[ids]
    first, last = shapes.part_off[shapes.geom_off[ids]], shapes.part_off[shapes.geom_off[ids + 1]]
    vertices = shapes.path_off[last] - shapes.path_off[first]
    out = Shapes(
        np.empty((int(vertices.sum()), 2)),
        np.empty(int((last - first).sum()) + 1, np.int32),
        np.empty(int(parts.sum()) + 1, np.int32),
        np.empty(len(ids) + 1, np.int32),
        shapes.dim[ids],
        shapes.bounds[ids],
    )
    _copy_geometries(shapes, ids, out)
    return Shapes(*(frozen(array) for array in out))


def to_geos(shapes: Shapes, ids: NDArray[np.integer[Any]]) -> NDArray[np.object_]:
    """Return the geometries of these numbers as GEOS objects."""
    out = np.empty(len(ids), dtype=object)
    for dim, build in ((0, _points), (1, _lines), (2, _polygons)):
        rows = np.flatnonzero(shapes.dim[ids] == dim)
        for row in rows:
            out[row] = build(shapes, int(ids[row]))
    return out


def _paths(shapes: Shapes, part: int) -> list[NDArray[np.float64]]:
    first, last = shapes.part_off[part], shapes.part_off[part + 1]
    return [shapes.xy[shapes.path_off[k] : shapes.path_off[k + 1]] for k in range(first, last)]


def _points(shapes: Shapes, g: int) -> shapely.Geometry:
    (xy,) = _paths(shapes, int(shapes.geom_off[g]))
    points = shapely.points(xy)
    return points[0] if len(points) == 1 else shapely.multipoints(points)


def _lines(shapes: Shapes, g: int) -> shapely.Geometry:
    parts = range(int(shapes.geom_off[g]), int(shapes.geom_off[g + 1]))
    lines = [shapely.linestrings(_paths(shapes, part)[0]) for part in parts]
    return lines[0] if len(lines) == 1 else shapely.multilinestrings(lines)


def _polygons(shapes: Shapes, g: int) -> shapely.Geometry:
    polygons = []
    for part in range(int(shapes.geom_off[g]), int(shapes.geom_off[g + 1])):
        shell, *holes = (shapely.linearrings(path) for path in _paths(shapes, part))
        polygons.append(shapely.polygons(shell, holes or None))
    return polygons[0] if len(polygons) == 1 else shapely.multipolygons(polygons)


def concatenate(a: Shapes, b: Shapes) -> Shapes:
    """Return the geometries of a, then those of b."""
    if len(b.dim) == 0:
        return a
    arrays = (
        np.concatenate([a.xy, b.xy]),
        np.concatenate([a.path_off, b.path_off[1:] + a.path_off[-1]]),
        np.concatenate([a.part_off, b.part_off[1:] + a.part_off[-1]]),
        np.concatenate([a.geom_off, b.geom_off[1:] + a.geom_off[-1]]),
        np.concatenate([a.dim, b.dim]),
        np.concatenate([a.bounds, b.bounds]),
    )
    return Shapes(*(frozen(array) for array in arrays))
