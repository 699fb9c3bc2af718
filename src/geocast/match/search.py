"""Finding the rows of a part that a batch of publications hits: the stages of matching.

Candidates come from the index; rules on types and boxes drop most; cells decide nearly all that
remain; GEOS decides the rest. Points take a path of their own: the cell index answers them
directly.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.match.geometry.curves import hilbert_order
from geocast.match.geometry.decode import Geometries
from geocast.match.geometry.shapes import Shapes, frozen, most_vertices, take, to_geos
from geocast.match.index.base import Candidates
from geocast.match.index.cells import CellIndex
from geocast.match.part import Part
from geocast.match.predicate.relation import DOUBT
from geocast.match.predicate.rules import POSSIBLE_BY_DIMENSION, apply_rules
from geocast.match.relate.batch import relate_batch
from geocast.match.relate.emit import emit_relations
from geocast.match.relate.lists import Lists, add_to_lists
from geocast.match.relate.multipoints import relate_multipoints
from geocast.match.relate.points import labels_of, match_points
from geocast.match.relate.referee import Referee
from geocast.match.relate.work import Work, new_work

__all__ = ["Search", "picked"]


class Search:
    """Searches one part; keeps scratch memory and prepared geometries between batches.

    `label` says what a hit on each row emits; with `sort`, lists come out sorted.
    """

    def __init__(self, part: Part, label: NDArray[np.int32], *, sort: bool) -> None:
        self._part = part
        self._label = frozen(label)
        self._sort = sort
        self._labels = labels_of(part.ranges, self._label)
        self._referee = Referee(part.shapes)
        self._most_vertices = most_vertices(part.shapes)
        self._work: Work | None = None
        self._values = np.empty(0, np.int32)

    def points(
        self,
        xs: NDArray[np.float64],
        ys: NDArray[np.float64],
        among: Candidates | None = None,
    ) -> tuple[Lists, NDArray[np.int32]]:
        """Return the lists of single points; the values are good until the next call.

        `among` are the geometries that each may hit, where that is known beforehand.
        """
        lists = Lists(np.zeros(len(xs), np.int64), np.zeros(len(xs), np.int32))
        if len(xs) == 0 or len(self._part.row) == 0:
            return lists, np.empty(0, np.int32)
        if among is not None or not isinstance(self._part.index, CellIndex):
            return self._refine(_points_as_shapes(xs, ys), among)
        if len(self._values) < 16 * len(xs):
            self._values = np.empty(16 * len(xs), np.int32)
        self._values, used, doubts = match_points(
            self._part.index.trie, self._part.shapes, self._labels, self._sort, xs, ys, lists,
            self._values,
        )  # fmt: skip
        values = self._values[:used]
        if len(doubts):
            q, inverse = np.unique(doubts[:, 0].astype(np.int64), return_inverse=True)
            where = np.column_stack([xs[q], ys[q]])
            values = self._ask(shapely.points(where), q, inverse, doubts[:, 1], lists, values)
        return lists, values

    def extended(
        self, geometries: Geometries, among: Candidates | None = None
    ) -> tuple[Lists, NDArray[np.int32]]:
        """Return the lists of multipoints, lines and areas; unusable ones have empty lists.

        `among` are the geometries that each may hit, where that is known beforehand.
        """
        number = geometries.number
        usable = np.flatnonzero(number >= 0)
        lists = Lists(np.zeros(len(number), np.int64), np.zeros(len(number), np.int32))
        if len(usable) == 0 or len(self._part.row) == 0:
            return lists, np.empty(0, np.int32)
        # Neighbours one after another: they read the same parts of the index.
        usable = usable[hilbert_order(geometries.shapes.bounds[number[usable]])]
        shapes = take(geometries.shapes, number[usable])
        care = frozen(geometries.care[number[usable]])
        if among is not None:
            found, values = self._refine(shapes, picked(among, usable))
        elif isinstance(self._part.index, CellIndex):
            found, values = self._decide(self._part.index, shapes, care)
        else:
            found, values = self._refine(shapes)
        lists.start[usable], lists.length[usable] = found.start, found.length
        return lists, values

    def candidates(self, pub: Shapes) -> Candidates:
        """Return the geometries that index and rules leave for each; boxes and types are enough."""
        return self._candidates(pub, np.arange(len(pub.dim)))[:2]

    def _decide(
        self, index: CellIndex, pub: Shapes, care: NDArray[np.uint8]
    ) -> tuple[Lists, NDArray[np.int32]]:
        """Relate publications to candidates by cells; what is left in doubt by GEOS."""
        part = self._part
        extended = np.flatnonzero(pub.dim > 0)
        offsets, items, asked = self._candidates(pub, extended)
        relation = np.zeros(len(items), np.uint16)
        if len(extended):
            relate_batch(
                index.trie, index.coarse, part.shapes, part.care, part.blocks, pub, care,
                extended, offsets, items, asked, self._scratch(pub, offsets), relation,
            )  # fmt: skip
        if len(extended) < len(pub.dim):
            offsets, items, relation = self._with_multipoints(index, pub, offsets, items, relation)
        return self._emit(pub, offsets, items, relation)

    def _candidates(
        self, pub: Shapes, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Return offsets, candidates and predicates to ask for; only these rows have any."""
        found, items = self._part.boxes.query(pub.bounds[rows])
        offsets = np.zeros(len(pub.dim) + 1, np.int64)
        offsets[rows + 1] = np.diff(found)
        np.cumsum(offsets, out=offsets)
        return apply_rules(
            pub, self._part.shapes, self._part.need, POSSIBLE_BY_DIMENSION, offsets, items
        )

    def _scratch(self, pub: Shapes, offsets: NDArray[np.int64]) -> Work:
        vertices, candidates = most_vertices(pub), int(np.diff(offsets).max()) + 1
        work = self._work
        if work is None or len(work.vertex_mark) <= vertices or len(work.head) < candidates:
            work = new_work(len(self._part.need), 2 * vertices, self._most_vertices, 2 * candidates)
            self._work = work
        return work

    def _with_multipoints(
        self,
        index: CellIndex,
        pub: Shapes,
        offsets: NDArray[np.int64],
        items: NDArray[np.int32],
        relation: NDArray[np.uint16],
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Add for multipoints, which have no candidates, what their points hit in the cells."""
        rows = np.flatnonzero(pub.dim == 0)
        own_off, own_items, own_relation = relate_multipoints(
            index.trie, self._part.shapes, pub, rows
        )
        count = np.diff(offsets)
        count[rows] = np.diff(own_off)
        merged = np.zeros(len(offsets), np.int64)
        np.cumsum(count, out=merged[1:])
        place = _places(offsets[:-1], np.diff(offsets), merged[:-1])
        own_place = _places(own_off[:-1], np.diff(own_off), merged[rows])
        all_items, all_relations = np.empty(merged[-1], np.int32), np.empty(merged[-1], np.uint16)
        all_items[place], all_items[own_place] = items, own_items
        all_relations[place], all_relations[own_place] = relation, own_relation
        return merged, all_items, all_relations

    def _emit(
        self,
        pub: Shapes,
        offsets: NDArray[np.int64],
        items: NDArray[np.int32],
        relation: NDArray[np.uint16],
    ) -> tuple[Lists, NDArray[np.int32]]:
        part = self._part
        lists = Lists(np.zeros(len(pub.dim), np.int64), np.zeros(len(pub.dim), np.int32))
        values = emit_relations(
            offsets, items, relation, part.row_off, part.predicate, self._label, self._sort, lists
        )
        doubtful = np.flatnonzero(relation & DOUBT)
        if len(doubtful):
            owner = np.searchsorted(offsets, doubtful, side="right") - 1
            q, inverse = np.unique(owner, return_inverse=True)
            values = self._ask(to_geos(pub, q), q, inverse, items[doubtful], lists, values)
        return lists, values

    def _refine(
        self, pub: Shapes, among: Candidates | None = None
    ) -> tuple[Lists, NDArray[np.int32]]:
        """Ask GEOS about every candidate: those given, or those that index and rules leave."""
        offsets, items = among or self.candidates(pub)
        relation = np.full(len(items), DOUBT, np.uint16)
        return self._emit(pub, offsets, items, relation)

    def _ask(
        self,
        publications: NDArray[np.object_],
        q: NDArray[np.int64],
        pair: NDArray[np.int64],
        g: NDArray[np.int32],
        lists: Lists,
        values: NDArray[np.int32],
    ) -> NDArray[np.int32]:
        """Let GEOS decide pairs (publications[pair], g) for all rows on g; extends the lists."""
        part = self._part
        count = part.row_off[g + 1] - part.row_off[g]
        who, where = np.repeat(pair, count), np.repeat(g, count)
        first = np.repeat(part.row_off[g] - (np.cumsum(count) - count), count)
        rows = first + np.arange(len(first))
        holds = self._referee.holds(publications, who, where, part.predicate[rows])
        who, rows = who[holds], rows[holds]
        order = np.argsort(who, kind="stable")
        return add_to_lists(lists, values, q[who[order]], self._label[rows[order]], self._sort)


def picked(lists: Candidates, rows: NDArray[np.int64]) -> Candidates:
    """Return the lists of these rows, one after another."""
    offsets, items = lists
    count = offsets[rows + 1] - offsets[rows]
    ends = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    source = np.repeat(offsets[rows] - ends[:-1], count) + np.arange(ends[-1])
    return ends, items[source]


def _places(
    start: NDArray[np.int64], count: NDArray[np.int64], target: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where each item goes if the lists that begin at `start` are to begin at `target`."""
    return np.arange(int(count.sum())) + np.repeat(target - start, count)


def _points_as_shapes(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> Shapes:
    steps = np.arange(len(xs) + 1, dtype=np.int32)
    xy = np.column_stack([xs, ys])
    arrays = (xy, steps, steps, steps, np.zeros(len(xs), np.int8), np.column_stack([xy, xy]))
    return Shapes(*(frozen(a) for a in arrays))
