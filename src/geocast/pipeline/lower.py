"""The lower pipeline, which all partitioned algorithms share: match, keep what counts, gather."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
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
from geocast.match.partition import Partitioning
from geocast.match.relate.lists import Lists
from geocast.match.strings import Strings
from geocast.model import Reject
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import Parcel, Partial, join_parcels
from geocast.pipeline.shipment import Shipment

__all__ = ["Gatherer", "Worker"]

_BYTES_AT_ONCE: Final = 64 << 20
_SHARES_OPEN: Final = 64
_NO_NUMBERS: Final = np.empty(0, np.int32)

Pending = dict[int, list[tuple[int, Parcel]]]
"""Parcels by the partition that they are for, each with its source."""


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
        waiting: Pending = defaultdict(list)
        size = 0
        for batch in batches:
            for row in batch.to_pylist():
                waiting[row["target"]].append((row["source"], Parcel.unpack(row["content"])))
                size += len(row["content"])
            if size >= _BYTES_AT_ONCE:
                yield from self._work(waiting)
                waiting, size = defaultdict(list), 0
        yield from self._work(waiting)

    def _work(self, waiting: Pending) -> Iterator[tuple[int, Partial]]:
        for target in sorted(waiting):
            for source, parcel in waiting[target]:
                refused = parcel.refused
                if refused:
                    nothing = pa.array([], pa.string())
                    none = np.empty(0, np.int64)
                    yield source, Partial(len(refused), none, _NO_NUMBERS, nothing, refused)
            full = [(source, parcel) for source, parcel in waiting[target] if len(parcel.row)]
            for sources, joined in join_parcels(full):
                yield from self._match(target, sources, joined)

    def _match(
        self, target: int, sources: NDArray[np.int32], parcel: Parcel
    ) -> Iterator[tuple[int, Partial]]:
        share = _open_share(self.shipment.path(), str(target))
        found = share.pairs(parcel.publications, parcel.among)
        at, own = found.row, found.subscription
        if self.partitioning is not None:
            kept = self._owned(target, parcel, share, at, own)
            at, own = at[kept], own[kept]
        number = share.numbers[own]
        homely = np.flatnonzero(parcel.home)
        apart = _open_share(self.shipment.path(), EVERYWHERE)
        if len(apart.numbers) and len(homely):
            more = apart.pairs(parcel.publications.take(pa.array(homely)))
            at = np.concatenate([at, homely[more.row]])
            number = np.concatenate([number, apart.numbers[more.subscription]])
        order = np.lexsort((number, at))
        reasons = {row: why for row, why in found.reasons.items() if parcel.home[row]}
        yield from _by_source(sources, parcel, at[order], number[order], reasons)

    def _owned(
        self,
        target: int,
        parcel: Parcel,
        share: Share,
        at: NDArray[np.int64],
        own: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Return which pairs this partition reports: those whose reference point it owns."""
        assert self.partitioning is not None
        kept = parcel.alone[at]
        shared = np.flatnonzero(~kept)
        owner = self.partitioning.owner_of_pair(parcel.corner[at[shared]], share.boxes[own[shared]])
        kept[shared] = owner == target
        return kept


def _by_source(
    sources: NDArray[np.int32],
    parcel: Parcel,
    at: NDArray[np.int64],
    number: NDArray[np.int32],
    reasons: dict[int, str],
) -> Iterator[tuple[int, Partial]]:
    ids = pc.cast(parcel.publications.column("id"), pa.string())
    rejects: dict[int, list[Reject]] = defaultdict(list)
    for row, reason in reasons.items():
        name = ids[row].as_py()
        rejects[int(sources[row])].append(
            Reject("publications", int(parcel.row[row]), name, reason)
        )
    for source in np.unique(sources).tolist():
        own = np.flatnonzero(sources[at] == source)
        accounted = int(np.count_nonzero(parcel.home & (sources == source)))
        names = ids.take(pa.array(at[own]))
        yield (
            source,
            Partial(accounted, parcel.row[at[own]], number[own], names, tuple(rejects[source])),
        )


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
