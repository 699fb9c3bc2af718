"""The lower pipeline, which all partitioned algorithms share: match, keep what counts, gather."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.match.answer import matches_table
from geocast.match.divided import EVERYWHERE, Share
from geocast.match.outline import outlines
from geocast.match.partition import Partitioning
from geocast.match.publications import read_publications
from geocast.match.relate.lists import Lists
from geocast.match.search import picked
from geocast.match.strings import Strings
from geocast.model import Reject
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import Parcel, Partial, join_parcels
from geocast.pipeline.shipment import Shipment

__all__ = ["Gatherer", "Worker"]

_BYTES_AT_ONCE: Final = 64 << 20
_SHARES_OPEN: Final = 512


@dataclass(frozen=True)
class Worker:
    """Matches parcels with the shares of the partitions that they are for.

    `partitioning` tells which partition reports a pair that several may find; None where each pair
    can be found in one partition only, or where all are to report it.
    """

    shipment: Shipment
    partitioning: Partitioning | None

    def partials(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Partial]]:
        """Yield what partitions found, each with the source of the publications."""
        waiting: list[tuple[int, Parcel]] = []
        size = 0
        for batch in batches:
            for row in batch.to_pylist():
                waiting.append((row["source"], Parcel.unpack(row["content"])))
                size += len(row["content"])
            if size >= _BYTES_AT_ONCE:
                yield from self._work(waiting)
                waiting, size = [], 0
        yield from self._work(waiting)

    def _work(self, waiting: Sequence[tuple[int, Parcel]]) -> Iterator[tuple[int, Partial]]:
        for source, parcel in waiting:
            if parcel.refused:
                none, nobody = np.empty(0, np.int64), pa.array([], pa.string())
                count = len(parcel.refused)
                yield source, Partial(count, none, none.astype(np.int32), nobody, parcel.refused)
        full = [(source, parcel) for source, parcel in waiting if len(parcel.row)]
        for sources, joined in join_parcels(full):
            order = np.argsort(joined.target, kind="stable")
            starts = np.flatnonzero(np.diff(joined.target[order], prepend=-1))
            for own in np.split(order, starts[1:]):
                visit = _Visit(joined, own)
                yield from _by_source(sources[joined.at[own]], visit, *self._match(visit))

    def _match(self, visit: _Visit) -> tuple[NDArray[np.int64], NDArray[np.int32], dict[int, str]]:
        """Return pairs of visitors and subscriptions, and why some of those at home are no use."""
        share = _open_share(self.shipment.path(), str(visit.partition))
        among, boxes = visit.among, None
        if self.partitioning is not None:
            known = outlines(read_publications(visit.batch))
            among, boxes = share.own_candidates(known, self.partitioning, visit.partition), known
        found = share.pairs(visit.batch, among)
        who, own = found.row, found.subscription
        if self.partitioning is not None and boxes is not None:
            # What stands in several places may be found by a partition that does not own it.
            owner = self.partitioning.owner_of_pair(boxes.boxes[who], share.boxes[own])
            kept = owner == visit.partition
            who, own = who[kept], own[kept]
        number = share.numbers[own]
        homely = np.flatnonzero(visit.home)
        apart = _open_share(self.shipment.path(), EVERYWHERE)
        if len(apart.numbers) and len(homely):
            more = apart.pairs(visit.batch.take(pa.array(homely)))
            who = np.concatenate([who, homely[more.row]])
            number = np.concatenate([number, apart.numbers[more.subscription]])
        order = np.lexsort((number, who))
        reasons = {row: why for row, why in found.reasons.items() if visit.home[row]}
        return who[order], number[order], reasons


class _Visit:
    """The publications of a parcel that visit one partition."""

    def __init__(self, parcel: Parcel, own: NDArray[np.int64]) -> None:
        """Take those of the routes `own`, which all have one target."""
        self.partition = int(parcel.target[own[0]])
        self.batch = parcel.publications.take(pa.array(parcel.at[own]))
        self.row = parcel.row[parcel.at[own]]
        self.home = parcel.home[own]
        self.among = None if parcel.among is None else picked(parcel.among, own)


def _by_source(
    sources: NDArray[np.int32],
    visit: _Visit,
    who: NDArray[np.int64],
    number: NDArray[np.int32],
    reasons: dict[int, str],
) -> Iterator[tuple[int, Partial]]:
    ids = pc.cast(visit.batch.column("id"), pa.string())
    rejects: dict[int, list[Reject]] = defaultdict(list)
    for place, reason in reasons.items():
        reject = Reject("publications", int(visit.row[place]), ids[place].as_py(), reason)
        rejects[int(sources[place])].append(reject)
    for source in np.unique(sources).tolist():
        own = np.flatnonzero(sources[who] == source)
        accounted = int(np.count_nonzero(visit.home & (sources == source)))
        names, row = ids.take(pa.array(who[own])), visit.row[who[own]]
        yield source, Partial(accounted, row, number[own], names, tuple(rejects[source]))


@dataclass(frozen=True)
class Gatherer:
    """Makes answers of partial ones; with `merge` the same pair may be among them repeatedly."""

    shipment: Shipment
    merge: bool

    def whole(self, partials: Iterable[tuple[int, Partial]]) -> Iterator[Answered]:
        """Yield one answer for each source, its publications in order."""
        by_source: dict[int, list[Partial]] = defaultdict(list)
        for source, partial in partials:
            by_source[source].append(partial)
        for source in sorted(by_source):
            yield self.answer(by_source[source])

    def answer(self, partials: list[Partial]) -> Answered:
        """Return what publications of one source matched, all partitions together."""
        row = np.concatenate([partial.row for partial in partials])
        number = np.concatenate([partial.number for partial in partials])
        ids = pa.concat_arrays([partial.ids for partial in partials])
        order = np.lexsort((number, row))
        row, number = row[order], number[order]
        if self.merge and len(row):
            fresh = (np.diff(row, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0)
            order, row, number = order[fresh], row[fresh], number[fresh]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        length = np.diff(first, append=len(row)).astype(np.int32)
        names = ids.take(pa.array(order[first]))
        matches = matches_table(names, self._strings, Lists(first, length), number)
        rejects = sorted(
            (reject for partial in partials for reject in partial.refused),
            key=lambda reject: reject.row,
        )
        count = sum(partial.publications for partial in partials)
        return Answered(count, matches, tuple(rejects))

    @property
    def _strings(self) -> Strings:
        return _open_ids(self.shipment.path())


@lru_cache(maxsize=_SHARES_OPEN)
def _open_share(folder: Path, name: str) -> Share:
    return Share.open(folder, name)


@lru_cache(maxsize=2)
def _open_ids(folder: Path) -> Strings:
    with pa.memory_map(str(folder / "ids.arrow")) as source:
        ids = pa.ipc.open_file(source).read_all().column("id")
    return Strings(ids.chunk(0) if ids.num_chunks else pa.array([], pa.string()))
