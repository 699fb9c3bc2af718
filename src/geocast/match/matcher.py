"""The matcher: subscriptions kept, batches of publications in, matches out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.errors import RejectedWarning
from geocast.match.answer import (
    Answer,
    Hits,
    Source,
    complement_pairs,
    matches_table,
    merge_sources,
)
from geocast.match.cache import ListCache
from geocast.match.columns import one_array, repeated, string_ids
from geocast.match.geometry.decode import decode_column
from geocast.match.index.base import Boxes, Candidates
from geocast.match.outline import boxes_as_shapes
from geocast.match.publications import Publications, read_publications
from geocast.match.relate.lists import Lists, gather
from geocast.match.search import Search, picked
from geocast.match.standing import Standing, build_standing
from geocast.match.store import load, save
from geocast.match.subscriptions import Subscriptions, read_subscriptions
from geocast.model import Rejects

__all__ = ["GeometryTable", "Matcher", "Pairs", "match"]

_POSITIVE: Final = 0
_COMPLEMENT: Final = 1
_PAIRS_AT_ONCE: Final = 1 << 22


@dataclass(frozen=True)
class GeometryTable:
    """Of each geometry of a matcher its box, its dimension, and the predicates asked of it.

    subscription[k] stands on geometry on[k].
    """

    boxes: Boxes
    dim: NDArray[np.int8]
    need: NDArray[np.uint16]
    on: NDArray[np.int32]
    subscription: NDArray[np.int32]


@dataclass(frozen=True)
class Pairs:
    """Publication row[k] of a batch matches subscription[k], by number; sorted by both.

    Subscriptions are numbered by the order of their ids. `reasons` says of some rows why they
    cannot be used.
    """

    row: NDArray[np.int64]
    subscription: NDArray[np.int32]
    reasons: dict[int, str]


class Matcher:
    """Matches publications with a fixed set of subscriptions, batch by batch.

    Subscriptions are a table with `id` and either `geometry` + `predicate` (+ `filter`), or
    `filter` alone; publications a table or batch with `id`, `geometry` (WKB) and attributes. A
    subscription that cannot be used is left out and stands in `rejects`. A matcher may be saved
    as files and opened by many processes, which then share one copy in memory. It is not meant
    to be used by several threads at once.

    `index` names the spatial index: "cells", the default, decides nearly everything without
    geometry; the others of `geocast.match.index.INDEXES` only find candidates and give the same
    matches.
    """

    def __init__(self, subscriptions: pa.Table, *, index: str = "cells") -> None:
        read = read_subscriptions(subscriptions)
        self._rejects = read.rejects
        self._open(build_standing(read, index))

    def _open(self, standing: Standing) -> None:
        self._standing = standing
        labels = standing.labels()
        self._searches = [
            Search(part, label, sort=standing.direct)
            for part, label in zip(standing.parts, labels, strict=True)
        ]
        self.forget()

    @classmethod
    def of(cls, read: Subscriptions, index: str) -> Matcher:
        """Return the matcher of subscriptions that were read already."""
        matcher = cls.__new__(cls)
        matcher._rejects = read.rejects
        matcher._open(build_standing(read, index))
        return matcher

    @classmethod
    def open(cls, directory: str | Path) -> Matcher:
        """Open a saved matcher; its arrays are memory-mapped, so opening takes no time."""
        matcher = cls.__new__(cls)
        matcher._rejects = Rejects()
        matcher._open(load(Path(directory)))
        return matcher

    def save(self, directory: str | Path) -> None:
        """Write the matcher into a directory, which is made; rejects are not kept."""
        save(self._standing, Path(directory))

    @property
    def rejects(self) -> Rejects:
        """The subscriptions that could not be used, each with its row and reason."""
        return self._rejects

    @property
    def properties(self) -> frozenset[str]:
        """The names of the attributes that filters use; other columns need not be passed."""
        return self._standing.rest.scan.properties

    @property
    def ids(self) -> pa.StringArray:
        """The ids of the subscriptions, by the numbers that `pairs` uses."""
        return self._standing.ids.column

    def geometry_table(self) -> GeometryTable:
        """Return what stands on the geometries that `pairs` knows by number."""
        part = self._standing.parts[_POSITIVE]
        on = np.repeat(np.arange(len(part.need), dtype=np.int32), np.diff(part.row_off))
        subscription = self._standing.subscription[part.row]
        return GeometryTable(part.shapes.bounds, part.shapes.dim, part.need, on, subscription)

    def candidates(self, boxes: Boxes, dim: NDArray[np.int8]) -> Candidates:
        """Return the geometries that publications of these boxes and dimensions may meet."""
        return self._searches[_POSITIVE].candidates(boxes_as_shapes(boxes, dim))

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._standing.ids)

    @property
    def nbytes(self) -> int:
        """The bytes of all that `save` writes."""
        return self._standing.nbytes

    def forget(self) -> None:
        """Empty the cache of what recurring geometries matched."""
        self._cache = ListCache(len(self._searches))

    def match(
        self, publications: pa.Table | pa.RecordBatch, *, rejects: Rejects | None = None
    ) -> pa.Table:
        """Return a row for each publication that matches, in order, with the schema MATCHES.

        Publications that cannot be used are added to `rejects`; without that, a RejectedWarning
        tells about them. Raises InputError where a column is missing or of the wrong type.
        """
        answer = self.answer(publications)
        found = Rejects()
        for row, name, reason in answer.rejected:
            found.add("publications", row, name, reason)
        _report(found, rejects)
        return answer.matches

    def answer(self, batch: pa.RecordBatch | pa.Table) -> Answer:
        """Match one batch; unlike `match` it returns the rejected rows."""
        publications, lists, values = self._found(batch, None)
        ids = publications.ids
        table = matches_table(ids.values, self._standing.ids, lists, values)
        reasons = sorted(publications.reasons.items())
        return Answer(table, [(row, ids.text(row), reason) for row, reason in reasons])

    def pairs(self, batch: pa.RecordBatch, among: Candidates | None = None) -> Pairs:
        """Match one batch and return numbers in place of ids, which need not differ here.

        `among` are the geometries of this matcher that each publication may meet, where that is
        known beforehand; only those are looked at. They must depend on its geometry alone.
        """
        publications, lists, values = self._found(batch, among)
        count = lists.length.astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(count)])
        source = np.repeat(lists.start - offsets[:-1], count) + np.arange(offsets[-1])
        return Pairs(np.repeat(np.arange(len(count)), count), values[source], publications.reasons)

    def _found(
        self, batch: pa.RecordBatch | pa.Table, among: Candidates | None
    ) -> tuple[Publications, Lists, NDArray[np.int32]]:
        """Return for each publication the list of the subscriptions that it matches."""
        publications = read_publications(batch)
        entries = self._entries(publications, among)
        if self._standing.direct:
            lists, values = self._listed(_POSITIVE, publications, entries, among)
        else:
            parts = range(len(self._searches))
            hits = [self._joined(part, publications, entries, among) for part in parts]
            offsets, values = self._finish(batch, publications, hits)
            lists = Lists(offsets[:-1].astype(np.int64), np.diff(offsets))
        # Also of rows that are rejected for another reason than their geometry.
        lists.length[list(publications.reasons)] = 0
        return publications, lists, values

    def _entries(self, publications: Publications, among: Candidates | None) -> NDArray[np.int32]:
        """Return the cache's entry of each geometry that is no point; notes unusable ones."""
        rows = publications.other_rows
        entries, fresh = self._cache.lookup(publications.column, rows)
        if len(fresh):
            self._match_fresh(publications, rows[fresh], entries[fresh], among)
        if self._cache.reasons:
            for row, entry in zip(rows.tolist(), entries.tolist(), strict=True):
                if entry in self._cache.reasons:
                    publications.reasons.setdefault(row, self._cache.reasons[entry])
        return entries

    def _match_fresh(
        self,
        publications: Publications,
        rows: NDArray[np.int64],
        entries: NDArray[np.int32],
        among: Candidates | None,
    ) -> None:
        """Match geometries met for the first time, and keep their lists."""
        geometries = decode_column(publications.column, publications.counts, rows)
        for k in np.flatnonzero(geometries.reason != ""):
            self._cache.reasons[int(entries[k])] = geometries.reason[k]
        few = None if among is None else picked(among, rows)
        for part, search in enumerate(self._searches):
            self._cache.store(part, entries, *search.extended(geometries, few))

    def _listed(
        self,
        part: int,
        publications: Publications,
        entries: NDArray[np.int32],
        among: Candidates | None,
    ) -> tuple[Lists, NDArray[np.int32]]:
        """Return the list of each publication; lists stay where they are if all are points."""
        n = len(publications.ids.values)
        if len(publications.other_rows):
            offsets, values = self._joined(part, publications, entries, among)
            return Lists(offsets[:-1].astype(np.int64), np.diff(offsets)), values
        points, values = self._points(part, publications, among)
        if len(points.start) == n:
            return points, values
        lists = Lists(np.zeros(n, np.int64), np.zeros(n, np.int32))
        lists.start[publications.point_rows] = points.start
        lists.length[publications.point_rows] = points.length
        return lists, values

    def _points(
        self, part: int, publications: Publications, among: Candidates | None
    ) -> tuple[Lists, NDArray[np.int32]]:
        few = None if among is None else picked(among, publications.point_rows)
        return self._searches[part].points(publications.xs, publications.ys, few)

    def _joined(
        self,
        part: int,
        publications: Publications,
        entries: NDArray[np.int32],
        among: Candidates | None,
    ) -> Hits:
        """Bring the lists of points and of other geometries into the order of the batch."""
        points, point_values = self._points(part, publications, among)
        start, length, values = self._cache.lists(part, entries)
        count = np.zeros(len(publications.ids.values), np.int32)
        count[publications.point_rows] = points.length
        count[publications.other_rows] = length
        offsets = np.zeros(len(count) + 1, np.int32)
        np.cumsum(count, out=offsets[1:])
        out = np.empty(offsets[-1], np.int32)
        gather(points.start, points.length, point_values, publications.point_rows, offsets, out)
        gather(start, length, values, publications.other_rows, offsets, out)
        return offsets, out

    def _finish(
        self, batch: pa.RecordBatch | pa.Table, publications: Publications, hits: list[Hits]
    ) -> Hits:
        """Check what hits leave to check, add what rows without a hit match, and join all."""
        standing = self._standing
        one = _one_batch(batch)
        n = len(publications.ids.values)
        offsets, rows = hits[_POSITIVE]
        who = np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets))
        sources = [self._checked(one, publications, who, rows)]
        absent = standing.absent_rows
        if len(absent):
            at_once = max(1, _PAIRS_AT_ONCE // len(absent))
            for first in range(0, n, at_once):
                pairs = complement_pairs(*hits[_COMPLEMENT], first, min(n, first + at_once), absent)
                sources.append(self._checked(one, publications, *pairs))
        return merge_sources(sources, n)

    def _checked(
        self,
        batch: pa.RecordBatch,
        publications: Publications,
        who: NDArray[np.int32],
        rows: NDArray[np.int32],
    ) -> Source:
        standing = self._standing
        keep = standing.rest.accepts(batch, publications.column, who, rows)
        who, rows = who[keep], rows[keep]
        offsets = np.searchsorted(who, np.arange(len(publications.ids.values) + 1))
        return Source(offsets, standing.subscription[rows])


def _one_batch(batch: pa.RecordBatch | pa.Table) -> pa.RecordBatch:
    """Return the batch as one, each column one array without views."""
    columns = [one_array(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _report(found: Rejects, rejects: Rejects | None) -> None:
    """Hand rejects to who asked for them, or warn."""
    if rejects is not None:
        rejects.extend(found)
    elif len(found):
        first = next(iter(found))
        message = f"{len(found)} records were rejected, the first: {first}"
        warnings.warn(message, RejectedWarning, stacklevel=3)


def match(
    subscriptions: pa.Table, publications: pa.Table, *, rejects: Rejects | None = None
) -> pa.Table:
    """Match publications with subscriptions, in this process.

    Returns a row for each publication that matches, in order, with the schema MATCHES:
    `publication` and the sorted `subscriptions`. Records that cannot be used, and publications
    whose id was used before, are added to `rejects`; without that, a RejectedWarning tells about
    them.
    """
    matcher = Matcher(subscriptions)
    found = Rejects()
    found.extend(matcher.rejects)
    again = _repeated_ids(publications, found)
    kept = _one_batch(publications)
    if again.any():
        kept = kept.filter(pa.array(~again))
    matches = matcher.match(kept, rejects=(own := Rejects()))
    rows = np.flatnonzero(~again)
    for reject in own:
        found.add("publications", int(rows[reject.row]), reject.id, reject.reason)
    _report(found, rejects)
    return matches


def _repeated_ids(publications: pa.Table, found: Rejects) -> NDArray[np.bool_]:
    """Return which rows repeat an id, and note them."""
    ids = string_ids(publications, "publications")
    again = repeated(ids.values)
    again[list(ids.reasons)] = False
    for row in np.flatnonzero(again):
        reason = "id is already used by an earlier row"
        found.add("publications", int(row), ids.text(int(row)), reason)
    return again
