"""The gazetteer of all subscriptions: where in which partition a publication may find a match.

It holds boxes and no geometries, so it is small enough for every worker. An item is a geometry of a
partition; what types and boxes rule out is not worth a journey, and is dropped here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geocast.match.geometry.shapes import Shapes, frozen
from geocast.match.index import INDEXES
from geocast.match.index.base import BoundsIndex
from geocast.match.matcher import Matcher
from geocast.match.outline import Outlines, boxes_as_shapes
from geocast.match.predicate.rules import POSSIBLE_BY_DIMENSION, apply_rules
from geocast.match.store import load_arrays, save_arrays

__all__ = ["Found", "Gazetteer"]


@dataclass(frozen=True)
class Found:
    """Publication row[k] may match geometry[k] of partition[k]; sorted by partition and row."""

    row: NDArray[np.int64]
    partition: NDArray[np.int32]
    geometry: NDArray[np.int32]


class Gazetteer:
    """Boxes of geometries, each with the partition that holds it and its number there."""

    def __init__(
        self,
        index: BoundsIndex,
        shapes: Shapes,
        need: NDArray[np.uint16],
        partition: NDArray[np.int32],
        geometry: NDArray[np.int32],
    ) -> None:
        self._index = index
        self._shapes = shapes
        self._need = need
        self._partition = partition
        self._geometry = geometry

    @classmethod
    def build(cls, shares: Mapping[int, Matcher], index: str) -> Gazetteer:
        """Index the geometries of the shares of all partitions."""
        tables = {partition: share.geometry_table() for partition, share in shares.items()}
        boxes = np.concatenate([np.empty((0, 4)), *(table.boxes for table in tables.values())])
        dim = np.concatenate([np.empty(0, np.int8), *(table.dim for table in tables.values())])
        need = np.concatenate([np.empty(0, np.uint16), *(t.need for t in tables.values())])
        sizes = [len(table.dim) for table in tables.values()]
        partition = np.repeat(np.array(list(tables), np.int32), sizes)
        geometry = np.concatenate([np.empty(0, np.int64), *(np.arange(size) for size in sizes)])
        return cls(
            INDEXES[index].build(boxes),
            boxes_as_shapes(boxes, dim),
            frozen(need),
            partition,
            geometry.astype(np.int32),
        )

    def save(self, path: Path) -> None:
        """Write everything into a directory, which is made."""
        arrays = {f"index.{name}": array for name, array in self._index.arrays().items()}
        arrays |= {"dim": self._shapes.dim, "boxes": self._shapes.bounds, "need": self._need}
        arrays |= {"partition": self._partition, "geometry": self._geometry}
        save_arrays(path, arrays, {"index": self._index.name})

    @classmethod
    def open(cls, path: Path) -> Gazetteer:
        """Map what `save` wrote into memory."""
        arrays, facts = load_arrays(path)
        own = {k.removeprefix("index."): v for k, v in arrays.items() if k.startswith("index.")}
        return cls(
            INDEXES[facts["index"]].from_arrays(own),
            boxes_as_shapes(arrays["boxes"], arrays["dim"]),
            arrays["need"],
            arrays["partition"],
            arrays["geometry"],
        )

    def find(self, outlines: Outlines) -> Found:
        """Return all that may match publications with these outlines."""
        rows = np.flatnonzero(outlines.known)
        publications = boxes_as_shapes(outlines.boxes[rows], outlines.dim[rows])
        offsets, items = self._index.query(publications.bounds)
        offsets, items, _ = apply_rules(
            publications, self._shapes, self._need, POSSIBLE_BY_DIMENSION, offsets, items
        )
        row, partition = np.repeat(rows, np.diff(offsets)), self._partition[items]
        order = np.lexsort((row, partition))
        return Found(row[order], partition[order], self._geometry[items][order])
