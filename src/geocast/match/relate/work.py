"""The scratch memory of relating publications to candidates, allocated once for many batches."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocast.match.relate.raster import PIXELS, new_frame

__all__ = ["Leaf", "Work", "new_work"]

_LEAVES: Final = 1 << 19
_LINKS: Final = 1 << 21
_ARENA: Final = 1 << 22
_STACK: Final = 1 << 17
_STRIPS: Final = 8192


class Leaf:
    """The columns of Work.leaf: the edges in the arena, and the cell."""

    FIRST: Final = 0
    LAST: Final = 1
    LEVEL: Final = 2
    COLUMN: Final = 3
    ROW: Final = 4


class Work(NamedTuple):
    """Scratch arrays. Where one overflows, the publication's open candidates go to GEOS.

    By geometry: active (is it a candidate?), position (which one). By candidate: covered and
    shared (leaves met that it covers wholly, or has edges in), head (its chain of links). A link
    joins a leaf met with the candidate's entry there. facts: see geocast.match.relate.facts; frame,
    rim, inside, wanted: the picture, see geocast.match.relate.raster; edge: the publication's edges
    that may come near an open candidate. Marks hold the number of the pair that set
    them, so they need no clearing: vertex_* and edge_mark by vertex of the publication, other_*
    by vertex of the candidate.
    """

    active: NDArray[np.uint8]
    position: NDArray[np.int32]
    covered: NDArray[np.int32]
    shared: NDArray[np.int32]
    head: NDArray[np.int32]
    link_next: NDArray[np.int32]
    link_leaf: NDArray[np.int32]
    link_entry: NDArray[np.int32]
    leaf: NDArray[np.int32]
    arena: NDArray[np.int32]
    child_mask: NDArray[np.uint32]
    child_count: NDArray[np.int64]
    stack: NDArray[np.int64]
    near: NDArray[np.int64]
    edge: NDArray[np.int32]
    edge_box: NDArray[np.int32]
    facts: NDArray[np.uint8]
    frame: NDArray[np.float64]
    rim: NDArray[np.uint64]
    inside: NDArray[np.uint64]
    wanted: NDArray[np.uint64]
    strip_off: NDArray[np.int64]
    strip_edge: NDArray[np.int32]
    strip_frame: NDArray[np.float64]
    vertex_mark: NDArray[np.int32]
    vertex_mate: NDArray[np.int32]
    edge_mark: NDArray[np.int32]
    other_vertex: NDArray[np.int32]
    other_edge: NDArray[np.int32]


def new_work(geometries: int, pub_vertices: int, sub_vertices: int, candidates: int) -> Work:
    """Allocate scratch memory for publications and candidates of up to these sizes."""
    i4 = np.int32
    return Work(
        active=np.zeros(geometries, np.uint8),
        position=np.zeros(geometries, i4),
        covered=np.zeros(candidates, i4),
        shared=np.zeros(candidates, i4),
        head=np.zeros(candidates, i4),
        link_next=np.empty(_LINKS, i4),
        link_leaf=np.empty(_LINKS, i4),
        link_entry=np.empty(_LINKS, i4),
        leaf=np.empty((_LEAVES, 5), i4),
        arena=np.empty(_ARENA, i4),
        child_mask=np.empty(pub_vertices + 1, np.uint32),
        child_count=np.zeros(16, np.int64),
        stack=np.empty((_STACK, 7), np.int64),
        near=np.zeros(_STACK, np.int64),
        edge=np.empty(pub_vertices + 1, i4),
        edge_box=np.empty((pub_vertices + 1, 4), i4),
        facts=np.zeros(candidates, np.uint8),
        frame=new_frame(),
        rim=np.zeros(PIXELS, np.uint64),
        inside=np.zeros(PIXELS, np.uint64),
        wanted=np.zeros(PIXELS, np.uint64),
        strip_off=np.zeros(_STRIPS + 2, np.int64),
        strip_edge=np.empty(_ARENA, i4),
        strip_frame=np.zeros(3),
        vertex_mark=np.zeros(pub_vertices + 1, i4),
        vertex_mate=np.zeros(pub_vertices + 1, i4),
        edge_mark=np.zeros(pub_vertices + 1, i4),
        other_vertex=np.zeros(sub_vertices + 1, i4),
        other_edge=np.zeros(sub_vertices + 1, i4),
    )
