"""Rows that stand on geometries, and how a batch of publications finds them.

Rows are sorted by geometry (in Hilbert order, so that neighbours are near in memory) and, within
one geometry, so that what a point inside it matches, and what a point on its rim matches, are
ranges of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocast.errors import UnknownNameError
from geocast.match.geometry.blocks import block_boxes
from geocast.match.geometry.curves import hilbert_order
from geocast.match.geometry.decode import Geometries
from geocast.match.geometry.shapes import Shapes, frozen, path_range, take
from geocast.match.index import INDEXES
from geocast.match.index.base import BoundsIndex
from geocast.match.index.cells import CellIndex
from geocast.match.index.hprtree import HPRTree
from geocast.match.predicate.relation import bit
from geocast.match.relate.multipoints import distinct_points
from geocast.model import Predicate

__all__ = ["Part", "build_part"]

_P = Predicate
_INSIDE_POINT = bit(_P.EQUALS, _P.WITHIN, _P.CONTAINS, _P.INTERSECTS, _P.COVERS, _P.COVEREDBY)
_INSIDE = bit(_P.WITHIN, _P.INTERSECTS, _P.COVEREDBY)
_ON_RIM = bit(_P.TOUCHES, _P.INTERSECTS, _P.COVEREDBY)


@dataclass(frozen=True)
class Part:
    """Rows row_off[g]:row_off[g + 1] stand on geometry g; `row` is each row's number outside.

    `blocks` are the boxes of blocks of vertices. `index` finds candidates. Where it is the cell
    index it also decides exactly; `boxes` then finds the candidates of lines and areas.
    """

    shapes: Shapes
    care: NDArray[np.uint8]
    blocks: NDArray[np.float64]
    index: BoundsIndex
    boxes: BoundsIndex
    row: NDArray[np.int32]
    predicate: NDArray[np.int8]
    row_off: NDArray[np.int32]
    ranges: NDArray[np.int32]
    need: NDArray[np.uint16]

    @property
    def exact(self) -> bool:
        """Whether the index decides exactly, rather than only naming candidates."""
        return isinstance(self.index, CellIndex)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole state as named arrays."""
        own = {name: getattr(self, name) for name in _PLAIN}
        return {
            **own,
            **self.shapes._asdict(),
            **{f"index.{k}": v for k, v in self.index.arrays().items()},
            **{f"boxes.{k}": v for k, v in self.boxes.arrays().items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], index: str) -> Part:
        """Return the part whose `arrays` these are, with an index of that name."""

        def of(prefix: str) -> dict[str, NDArray[Any]]:
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        kind = INDEXES[index]
        shapes = Shapes(*(frozen(arrays[name]) for name in Shapes._fields))
        boxes = of("boxes.")
        if kind is not CellIndex:
            tree: BoundsIndex = kind.from_arrays(boxes)
        elif "sizes" in boxes:
            tree = HPRTree.from_arrays(boxes)
        else:  # another tree stood beside the cells at first
            tree = HPRTree.build(shapes.bounds)
        return cls(
            shapes=shapes,
            index=kind.from_arrays(of("index.")),
            boxes=tree,
            **{name: frozen(arrays[name]) for name in _PLAIN},
        )


_PLAIN = ("care", "blocks", "row", "predicate", "row_off", "ranges", "need")


def build_part(
    geometries: Geometries,
    geometry: NDArray[np.int32],
    predicate: NDArray[np.int8],
    row: NDArray[np.int32],
    index: str,
) -> Part:
    """Build a part from rows (geometry number, predicate, row number outside)."""
    if index not in INDEXES:
        raise UnknownNameError("index", index, INDEXES)
    used, position = np.unique(geometries.number[geometry], return_inverse=True)
    order = hilbert_order(geometries.shapes.bounds[used])
    shapes = take(geometries.shapes, used[order])
    place = np.empty(len(used), np.int64)
    place[order] = np.arange(len(used))
    standing = place[position]
    group = _point_group(shapes)[standing, predicate]
    by_geometry = np.lexsort((row, group, standing))
    standing, group = standing[by_geometry], group[by_geometry]
    row_off = np.searchsorted(standing, np.arange(len(used) + 1)).astype(np.int32)
    need = np.zeros(len(used), np.uint16)
    np.bitwise_or.at(need, standing, np.uint16(1) << predicate[by_geometry].astype(np.uint16))
    ranges = _ranges(group, standing, len(used))
    kind = INDEXES[index]
    if kind is CellIndex:
        first_row = np.append(row[by_geometry], np.int32(0))[ranges[:, 0]]
        exact: BoundsIndex = CellIndex.of(shapes, first_row)
    else:
        exact = kind.build(shapes.bounds)
    return Part(
        shapes=shapes,
        care=frozen(geometries.care[used[order]]),
        blocks=frozen(block_boxes(shapes.xy)),
        index=exact,
        boxes=HPRTree.build(shapes.bounds) if kind is CellIndex else exact,
        row=frozen(row[by_geometry]),
        predicate=frozen(predicate[by_geometry]),
        row_off=frozen(row_off),
        ranges=frozen(ranges),
        need=frozen(need),
    )


def _point_group(shapes: Shapes) -> NDArray[np.int8]:
    """Return for each geometry and predicate which points match.

    0: those inside; 1: also those on the rim; 2: only those on the rim; 3: none.
    """
    kinds = np.zeros(len(shapes.dim), np.int8)  # 0 with a rim, 1 one point, 2 several points
    for g in np.flatnonzero(shapes.dim == 0):
        first, last = path_range(shapes, g)
        points = distinct_points(shapes.xy, shapes.path_off[first], shapes.path_off[last])
        kinds[g] = 1 if len(points) == 1 else 2
    table = np.full((3, len(Predicate)), 3, np.int8)
    for predicate in Predicate:
        own = 1 << predicate
        if own & _INSIDE:
            table[0, predicate] = 1 if own & _ON_RIM else 0
            table[2, predicate] = 0
        elif own & _ON_RIM:
            table[0, predicate] = 2
        if own & _INSIDE_POINT:
            table[1, predicate] = 0
    return table[kinds]


def _ranges(
    group: NDArray[np.int8], standing: NDArray[np.int64], geometries: int
) -> NDArray[np.int32]:
    """Return for each geometry the rows of groups 0 and 1, and of groups 1 and 2."""
    key = standing * 4 + group
    bounds = np.searchsorted(key, np.arange(geometries * 4)).reshape(geometries, 4)
    return bounds[:, [0, 2, 1, 3]].astype(np.int32)
