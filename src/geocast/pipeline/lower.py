"""The lower pipeline, which all partitioned algorithms share: match, keep what counts, gather."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.errors import GeocastError
from geocast.match.answer import matches_table
from geocast.match.divided import Divided, Share, no_share
from geocast.match.outline import Outlines, outlines
from geocast.match.partition.adapt import Load
from geocast.match.partition.base import Points, centres
from geocast.match.publications import read_publications
from geocast.match.relate.lists import Lists
from geocast.match.search import picked
from geocast.match.strings import Strings
from geocast.model import Reject
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import Parcel, Partial, join_parcels
from geocast.pipeline.routing import Holding
from geocast.pipeline.shares import shares
from geocast.pipeline.shipment import Shipment

__all__ = ["Gatherer", "Worker"]

_BYTES_AT_ONCE: Final = 64 << 20
_PAIRS_AT_ONCE: Final = 1 << 22
_PLACES_A_VISIT: Final = 32

Pairs = tuple[NDArray[np.int64], NDArray[Any], dict[int, str]]
"""Visitors and the numbers of subscriptions that they match; why some visitors are of no use."""


@dataclass(frozen=True)
class Worker:
    """Matches parcels with the partitions that they are for.

    `apart` are folders of further matchers, whose ids are numbers, and which are not divided. With
    `merge`, partitions report all that they find, though another may find it, too. Partitions stay
    open for the next task, unless every one is visited `once`: then a process never has more of
    them in memory than one task needs.
    """

    holdings: tuple[Holding, ...]
    apart: tuple[Path, ...] = ()
    merge: bool = False
    once: bool = False

    def partials(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Partial]]:
        """Yield what partitions found, each with the source of the publications."""
        own = {*(holding.open().directory for holding in self.holdings), *self.apart}
        shares.keep_only(set() if self.once else own)
        waiting: list[tuple[int, Parcel]] = []
        size = 0
        for batch in batches:
            for row in batch.to_pylist():
                waiting.append((row["source"], Parcel.unpack(row["content"])))
                size += waiting[-1][1].size
            if size >= _BYTES_AT_ONCE:
                yield from self._work(waiting)
                waiting, size = [], 0
        yield from self._work(waiting)

    def _work(self, waiting: Sequence[tuple[int, Parcel]]) -> Iterator[tuple[int, Partial]]:
        for source, parcel in waiting:
            if parcel.refused:
                rows = np.array([reject.row for reject in parcel.refused], np.int64)
                none, nobody = np.empty(0, np.int64), pa.array([], pa.string())
                yield source, Partial(rows, none, none, none, nobody, parcel.refused)
        full = [(source, parcel) for source, parcel in waiting if len(parcel.row)]
        for sources, joined in join_parcels(full):
            order = np.argsort(joined.target, kind="stable")
            starts = np.flatnonzero(np.diff(joined.target[order], prepend=-1))
            for own in np.split(order, starts[1:]):
                visit = _Visit(joined, own)
                host = self._host(visit)
                began = time.thread_time()
                found = self._match(visit, host)
                load = Load(time.thread_time() - began, visit.some_places())
                yield from _by_source(sources[joined.at[own]], visit, found, load)
            yield from self._ask_apart(sources, joined)
        shares.limit()

    def _host(self, visit: _Visit) -> _Host | None:
        """Open what a visit is for; None for a visit that is only accounted for."""
        partition, holding = divmod(visit.target, len(self.holdings) + 1)
        if holding == len(self.holdings):
            return None
        divided = self.holdings[holding].open()
        return _Host(divided, shares.of(divided, str(partition)), partition)

    def _match(self, visit: _Visit, host: _Host | None) -> Pairs:
        if host is None:
            found = no_share().pairs(visit.batch)
            return found.row, found.subscription, found.reasons
        if host.divided.gazetteer is not None:
            found = host.share.pairs(visit.batch, visit.among)
        elif self.merge:
            found = host.share.pairs(visit.batch)
        else:
            return host.reported(visit)
        return found.row, host.share.numbers[found.subscription], found.reasons

    def _ask_apart(
        self, sources: NDArray[np.int32], parcel: Parcel
    ) -> Iterator[tuple[int, Partial]]:
        """Ask what has no place about the publications that are accounted for in this parcel."""
        asked = [
            *(shares.everywhere(holding.open()) for holding in self.holdings),
            *map(shares.whole, self.apart),
        ]
        asked = [share for share in asked if len(share.numbers)]
        home = np.flatnonzero(parcel.home)
        if not asked or not len(home):
            return
        visit = _Visit(parcel, home, accounted=False)
        found = [share.pairs(visit.batch) for share in asked]
        who = np.concatenate([pairs.row for pairs in found])
        number = np.concatenate(
            [share.numbers[own.subscription] for share, own in zip(asked, found, strict=True)]
        )
        order = np.lexsort((number, who))
        yield from _by_source(sources[parcel.at[home]], visit, (who[order], number[order], {}))


class _Visit:
    """The publications of a parcel that visit one target; those at home are accounted for."""

    def __init__(self, parcel: Parcel, own: NDArray[np.int64], *, accounted: bool = True) -> None:
        """Take those of the routes `own`."""
        self.target = int(parcel.target[own[0]])
        self.batch = parcel.publications.take(pa.array(parcel.at[own]))
        self.row = parcel.row[parcel.at[own]]
        self.home = parcel.home[own] & accounted
        self.among = picked(parcel.among, own)

    @cached_property
    def outlines(self) -> Outlines:
        """The boxes of the publications."""
        return outlines(read_publications(self.batch))

    def some_places(self) -> Points:
        """Return where some of the publications are."""
        boxes = self.outlines.boxes[self.outlines.known]
        return centres(boxes[:: max(1, len(boxes) // _PLACES_A_VISIT)])


@dataclass(frozen=True, slots=True)
class _Host:
    """A partition that is visited."""

    divided: Divided
    share: Share
    partition: int

    def reported(self, visit: _Visit) -> Pairs:
        """Return only what this partition has to report."""
        reporting = self.divided.division.partitioning
        assert reporting is not None, "what is not looked up is divided by place"
        own = self.share.own_candidates(visit.outlines, reporting, self.partition)
        found = self.share.pairs(visit.batch, own)
        # What stands in several places may be found by a partition that does not own it.
        boxes = visit.outlines.boxes[found.row], self.share.boxes[found.subscription]
        kept = reporting.owner_of_pair(*boxes) == self.partition
        return found.row[kept], self.share.numbers[found.subscription[kept]], found.reasons


def _by_source(
    sources: NDArray[np.int32], visit: _Visit, found: Pairs, load: Load | None = None
) -> Iterator[tuple[int, Partial]]:
    who, number, reasons = found
    ids = pc.cast(visit.batch.column("id"), pa.string())
    rejects: dict[int, list[Reject]] = defaultdict(list)
    for place, reason in reasons.items():
        if visit.home[place]:
            reject = Reject("publications", int(visit.row[place]), ids[place].as_py(), reason)
            rejects[int(sources[place])].append(reject)
    for source in np.unique(sources).tolist():
        own = np.flatnonzero(sources[who] == source)
        first = np.flatnonzero(np.diff(who[own], prepend=-1))
        matched = who[own][first]
        partial = Partial(
            visit.row[visit.home & (sources == source)],
            visit.row[matched],
            np.diff(first, append=len(own)),
            number[own],
            ids.take(pa.array(matched)),
            tuple(rejects[source]),
            ((visit.target, load),) if load is not None and source == sources[0] else (),
        )
        yield source, partial


@dataclass(frozen=True)
class Gatherer:
    """Makes answers of partial ones; with `merge` the same pair may be among them repeatedly."""

    shipment: Shipment
    merge: bool

    def whole(self, partials: Iterable[tuple[int, Partial]]) -> Iterator[Answered]:
        """Yield the answers of each source, its publications in order."""
        by_source: dict[int, list[Partial]] = defaultdict(list)
        for source, partial in partials:
            by_source[source].append(partial)
        for source in sorted(by_source):
            yield from self.answers(by_source[source])

    def answers(self, partials: list[Partial]) -> Iterator[Answered]:
        """Yield what publications of one source matched, some at a time."""
        row, ids = _named(partials)
        at = np.concatenate([np.repeat(p.row, p.length) for p in partials])
        number = np.concatenate([p.number for p in partials]).astype(np.int32)
        order = np.lexsort((number, at))
        at, number = at[order], number[order]
        if self.merge and len(at):
            fresh = (np.diff(at, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0)
            at, number = at[fresh], number[fresh]
        start = np.searchsorted(at, row)
        length = np.searchsorted(at, row, side="right") - start
        refused = [reject for partial in partials for reject in partial.refused]
        rejects = tuple(sorted(refused, key=lambda reject: reject.row))
        count = sum(len(partial.accounted) for partial in partials)
        for first, last in _runs(length, _PAIRS_AT_ONCE):
            own = Lists(start[first:last], length[first:last].astype(np.int32))
            strings = _open_ids(self.shipment.path())
            matches = matches_table(ids.slice(first, last - first), strings, own, number)
            yield Answered(count, matches, rejects)
            count, rejects = 0, ()


def _named(partials: Sequence[Partial]) -> tuple[NDArray[np.int64], pa.StringArray]:
    """Return the rows that matched something, in order, and the ids of their publications."""
    row = np.concatenate([partial.row for partial in partials])
    ids = pa.concat_arrays([partial.ids for partial in partials])
    distinct, first, inverse = np.unique(row, return_index=True, return_inverse=True)
    names = ids.take(pa.array(first))
    if not pc.all(pc.equal(names.take(pa.array(inverse)), ids), min_count=0).as_py():
        raise GeocastError(
            "the publications of a partition came in another order when Spark read them again; "
            "sort them or write them to a file first"
        )
    return distinct, names


def _runs(length: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists that have about so many items; at least one range."""
    run = np.cumsum(length) // most
    starts = np.flatnonzero(np.diff(run, prepend=-1)) if len(run) else np.zeros(1, np.int64)
    ends = np.append(starts[1:], len(length))
    yield from zip(starts.tolist(), ends.tolist(), strict=True)


@lru_cache(maxsize=2)
def _open_ids(folder: Path) -> Strings:
    with pa.memory_map(str(folder / "ids.arrow")) as source:
        ids = pa.ipc.open_file(source).read_all().column("id")
    return Strings(ids.chunk(0) if ids.num_chunks else pa.array([], pa.string()))
