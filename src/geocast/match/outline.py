"""The boxes and dimensions of publications: all that is needed to send them to partitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocast.match.geometry.decode import decode_column
from geocast.match.geometry.shapes import Shapes, frozen
from geocast.match.geometry.wkb import Flaw, decode
from geocast.match.index.base import Boxes
from geocast.match.publications import Publications

__all__ = ["Outlines", "boxes_as_shapes", "outlines"]


@dataclass(frozen=True)
class Outlines:
    """Of each publication its box and dimension; those that are not `known` cannot be used."""

    boxes: Boxes
    dim: NDArray[np.int8]
    known: NDArray[np.bool_]


def outlines(publications: Publications) -> Outlines:
    """Return the outlines of all publications of a batch; that areas are valid is not checked."""
    n = len(publications.ids.values)
    boxes, dim, known = np.zeros((n, 4)), np.zeros(n, np.int8), np.zeros(n, np.bool_)
    points = publications.point_rows
    boxes[points] = np.column_stack([publications.xs, publications.ys] * 2)
    known[points] = True
    rows = publications.other_rows
    plain = publications.counts.flaw[rows] == Flaw.NONE
    shapes, flaw = decode(publications.column, publications.counts, rows[plain])
    sound = flaw == Flaw.NONE
    good = rows[plain][sound]
    boxes[good], dim[good], known[good] = shapes.bounds[sound], shapes.dim[sound], True
    odd = np.concatenate([rows[~plain], rows[plain][~sound]])
    if len(odd):
        checked = decode_column(publications.column, publications.counts, odd)
        usable = np.flatnonzero(checked.number >= 0)
        number, good = checked.number[usable], odd[usable]
        boxes[good], dim[good] = checked.shapes.bounds[number], checked.shapes.dim[number]
        known[good] = True
    known[list(publications.reasons)] = False
    return Outlines(boxes, dim, known)


def boxes_as_shapes(boxes: Boxes, dim: NDArray[np.int8]) -> Shapes:
    """Return shapes that have no more than a box and a dimension, as the rules ask for them."""
    none = np.zeros(1, np.int32)
    arrays = (np.empty((0, 2)), none, none, none, dim, boxes)
    return Shapes(*(frozen(array) for array in arrays))
