"""The lower pipeline, which all partitioned algorithms share: match, keep what counts, gather."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.match.answer import matches_table
from geocast.match.divided import EVERYWHERE, Divided, Share, no_share
from geocast.match.matcher import Matcher
from geocast.match.outline import outlines
from geocast.match.partition.adapt import Load
from geocast.match.partition.base import Points, centres
from geocast.match.publications import read_publications
from geocast.match.relate.lists import Lists
from geocast.match.search import picked
from geocast.match.strings import Strings
from geocast.model import Reject
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import Parcel, Partial, join_parcels
from geocast.pipeline.routing import Holding, open_holding
from geocast.pipeline.shipment import Shipment

__all__ = ["Gatherer", "Worker"]

_BYTES_AT_ONCE: Final = 64 << 20
_SHARES_OPEN: Final = 512
_PLACES_A_VISIT: Final = 32


@dataclass(frozen=True)
class Worker:
    """Matches parcels with the partitions that they are for.

    `apart` are folders of further matchers, whose ids are numbers, and which are not divided. With
    `merge`, partitions report all that they find, though another may find it, too.
    """

    holdings: tuple[Holding, ...]
    apart: tuple[Path, ...] = ()
    merge: bool = False

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
                rows = np.array([reject.row for reject in parcel.refused], np.int64)
                yield source, Partial(rows, none, none, nobody, parcel.refused)
        full = [(source, parcel) for source, parcel in waiting if len(parcel.row)]
        for sources, joined in join_parcels(full):
            order = np.argsort(joined.target, kind="stable")
            starts = np.flatnonzero(np.diff(joined.target[order], prepend=-1))
            for own in np.split(order, starts[1:]):
                visit = _Visit(joined, own)
                began = time.thread_time()
                found = self._match(visit)
                load = Load(time.thread_time() - began, visit.some_places())
                yield from _by_source(sources[joined.at[own]], visit, load, *found)

    def _match(self, visit: _Visit) -> tuple[NDArray[np.int64], NDArray[Any], dict[int, str]]:
        """Return pairs of visitors and subscriptions, and why some of those at home are no use."""
        partition, holding = divmod(visit.target, len(self.holdings) + 1)
        if holding == len(self.holdings):
            found = no_share().pairs(visit.batch)
            who, number, reasons = found.row, found.subscription, found.reasons
        else:
            who, number, reasons = self._ask(visit, self.holdings[holding].open(), partition)
        homely = np.flatnonzero(visit.home)
        batch = visit.batch.take(pa.array(homely))
        for apart in self._apart() if len(homely) else ():
            more = apart.pairs(batch)
            who = np.concatenate([who, homely[more.row]])
            number = np.concatenate([number, apart.numbers[more.subscription]])
        order = np.lexsort((number, who))
        return who[order], number[order], {k: why for k, why in reasons.items() if visit.home[k]}

    def _ask(
        self, visit: _Visit, divided: Divided, partition: int
    ) -> tuple[NDArray[np.int64], NDArray[Any], dict[int, str]]:
        share = _open_share(divided.directory, str(partition))
        if divided.gazetteer is not None:
            found = share.pairs(visit.batch, visit.among)
            return found.row, share.numbers[found.subscription], found.reasons
        reporting = divided.division.reporting
        if self.merge or reporting is None:
            found = share.pairs(visit.batch)
            return found.row, share.numbers[found.subscription], found.reasons
        known = outlines(read_publications(visit.batch))
        found = share.pairs(visit.batch, share.own_candidates(known, reporting, partition))
        # What stands in several places may be found by a partition that does not own it.
        boxes = known.boxes[found.row], share.boxes[found.subscription]
        kept = reporting.owner_of_pair(*boxes) == partition
        return found.row[kept], share.numbers[found.subscription[kept]], found.reasons

    def _apart(self) -> Iterator[Share]:
        """Yield what every publication is asked about, in one place."""
        for holding in self.holdings:
            share = _open_share(holding.open().directory, EVERYWHERE)
            if len(share.numbers):
                yield share
        yield from map(_open_apart, self.apart)


class _Visit:
    """The publications of a parcel that visit one target."""

    def __init__(self, parcel: Parcel, own: NDArray[np.int64]) -> None:
        """Take those of the routes `own`, which all have one target."""
        self.target = int(parcel.target[own[0]])
        self.batch = parcel.publications.take(pa.array(parcel.at[own]))
        self.row = parcel.row[parcel.at[own]]
        self.home = parcel.home[own]
        self.among = picked(parcel.among, own)

    def some_places(self) -> Points:
        """Return where some of the publications are."""
        some = outlines(read_publications(self.batch.slice(0, _PLACES_A_VISIT)))
        return centres(some.boxes[some.known])


def _by_source(
    sources: NDArray[np.int32],
    visit: _Visit,
    load: Load,
    who: NDArray[np.int64],
    number: NDArray[Any],
    reasons: dict[int, str],
) -> Iterator[tuple[int, Partial]]:
    ids = pc.cast(visit.batch.column("id"), pa.string())
    rejects: dict[int, list[Reject]] = defaultdict(list)
    for place, reason in reasons.items():
        reject = Reject("publications", int(visit.row[place]), ids[place].as_py(), reason)
        rejects[int(sources[place])].append(reject)
    for source in np.unique(sources).tolist():
        own = np.flatnonzero(sources[who] == source)
        accounted = visit.row[visit.home & (sources == source)]
        names, row = ids.take(pa.array(who[own])), visit.row[who[own]]
        loads = ((visit.target, load),) if source == sources[0] else ()
        refused = tuple(rejects[source])
        yield source, Partial(accounted, row, number[own], names, refused, loads)


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
        number = np.concatenate([partial.number for partial in partials]).astype(np.int32)
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
        count = sum(len(partial.accounted) for partial in partials)
        return Answered(count, matches, tuple(rejects))

    @property
    def _strings(self) -> Strings:
        return _open_ids(self.shipment.path())


@lru_cache(maxsize=_SHARES_OPEN)
def _open_share(folder: Path, name: str) -> Share:
    return open_holding(folder).share(name)


@lru_cache(maxsize=_SHARES_OPEN)
def _open_apart(folder: Path) -> Share:
    matcher = Matcher.open(folder)
    numbers = pc.cast(matcher.ids, pa.int64()).to_numpy(zero_copy_only=False)
    return Share(matcher, numbers, np.empty((0, 4)))


@lru_cache(maxsize=2)
def _open_ids(folder: Path) -> Strings:
    with pa.memory_map(str(folder / "ids.arrow")) as source:
        ids = pa.ipc.open_file(source).read_all().column("id")
    return Strings(ids.chunk(0) if ids.num_chunks else pa.array([], pa.string()))
