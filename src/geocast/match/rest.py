"""What is left to check on a hit: attributes, and spatial constraints beyond the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.language import AttributeConstraint
from geocast.match.content import Scan
from geocast.match.geometry.decode import Geometries, wkb_of
from geocast.match.geometry.shapes import Shapes, frozen, take
from geocast.match.geometry.wkb import WkbColumn
from geocast.match.relate.referee import Referee
from geocast.match.rows import Rows

__all__ = ["RestCheck", "build_rest"]

Triples = NDArray[np.int32]
"""Rows of (geometry, predicate, negated)."""


class RestCheck:
    """Checks pairs (publication, row); rows without anything left to check pass."""

    def __init__(
        self,
        scan: Scan,
        constraints: Sequence[AttributeConstraint],
        arrays: Mapping[str, NDArray[Any]],
    ) -> None:
        """Take over the arrays; offsets and items of `scan` are among them."""
        self.scan = scan
        self.constraints = tuple(constraints)
        self._arrays = {name: frozen(array) for name, array in arrays.items()}
        self._referee = Referee(Shapes(*(self._arrays[name] for name in Shapes._fields)))

    @property
    def needed(self) -> NDArray[np.bool_]:
        """Which rows have something left to check."""
        return self._has("scan_off") | self._has("spatial_off")

    def _has(self, offsets: str) -> NDArray[np.bool_]:
        return np.diff(self._arrays[offsets]) > 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole state but the constraints as named arrays."""
        return dict(self._arrays)

    def accepts(
        self,
        batch: pa.RecordBatch,
        column: WkbColumn,
        publications: NDArray[np.int32],
        rows: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Return for each pair whether all that is left holds."""
        accepted = np.ones(len(rows), np.bool_)
        content = np.flatnonzero(self._has("scan_off")[rows])
        if len(content):
            accepted[content] = self.scan.accepts(batch, publications[content], rows[content])
        spatial = np.flatnonzero(self._has("spatial_off")[rows] & accepted)
        if len(spatial):
            accepted[spatial] = self._accepts_place(column, publications[spatial], rows[spatial])
        return accepted

    def _accepts_place(
        self, column: WkbColumn, publications: NDArray[np.int32], rows: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        offsets, triples = self._arrays["spatial_off"], self._arrays["spatial"]
        count = offsets[rows + 1] - offsets[rows]
        pair = np.repeat(np.arange(len(rows)), count)
        first = np.repeat(offsets[rows] - (np.cumsum(count) - count), count)
        geometry, predicate, negated = triples[first + np.arange(len(pair))].T
        distinct, position = np.unique(publications, return_inverse=True)
        geos = np.asarray(shapely.from_wkb(wkb_of(column, distinct.astype(np.int64))))
        holds = self._referee.holds(geos, position[pair], geometry, predicate)
        return np.bincount(pair[holds == negated.astype(np.bool_)], minlength=len(rows)) == 0


def build_rest(rows: Rows, order: NDArray[np.int64], geometries: Geometries) -> RestCheck:
    """Build the check for rows in this order (position k checks what row order[k] leaves)."""
    constraints: dict[AttributeConstraint, int] = {}
    for rest in rows.rests:
        for constraint in rest.attributes:
            constraints.setdefault(constraint, len(constraints))
    needed = [[constraints[c] for c in rest.attributes] for rest in rows.rests]
    used = sorted({g for rest in rows.rests for g, _, _ in rest.spatial})
    place = {g: k for k, g in enumerate(used)}
    triples = [[(place[g], int(p), int(n)) for g, p, n in rest.spatial] for rest in rows.rests]
    numbers = rows.rest[order]
    scan_off, items = _ragged(needed, numbers, 1)
    spatial_off, spatial = _ragged(triples, numbers, 3)
    shapes = take(geometries.shapes, geometries.number[np.array(used, np.int64)])
    arrays = {
        "scan_off": scan_off,
        "scan_items": items.reshape(-1),
        "spatial_off": spatial_off,
        "spatial": spatial,
        **shapes._asdict(),
    }
    scan = Scan(list(constraints), scan_off, items.reshape(-1))
    return RestCheck(scan, list(constraints), arrays)


def _ragged(
    lists: Sequence[Sequence[Any]], numbers: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return offsets and items of lists[numbers[0]], lists[numbers[1]], ... one after another."""
    lengths = np.array([len(own) for own in lists], np.int64)
    flat = np.array([item for own in lists for item in own], np.int32).reshape(-1, width)
    starts = np.cumsum(lengths) - lengths
    count = lengths[numbers]
    offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    source = np.repeat(starts[numbers] - offsets[:-1], count) + np.arange(offsets[-1])
    return offsets, flat[source]
