"""Partitions that follow the load, beside ones that stay: taxis by the hour of the day."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import shapely
from numpy.typing import NDArray

from geocast.bench.core import Announce
from geocast.bench.data import DataFolder
from geocast.files import Chunk
from geocast.match.divided import Divided, divide
from geocast.match.partition.adapt import Load, adapted, add_load, imbalance
from geocast.match.partition.division import Divider, Division
from geocast.match.subscriptions import Subscriptions, read_subscriptions
from geocast.pipeline.balance import Balance
from geocast.pipeline.lower import Worker
from geocast.pipeline.parcel import packed
from geocast.pipeline.routing import Holding, parcels
from geocast.pipeline.shipment import Shipment
from geocast.pipeline.task import Outcome

__all__ = ["HOURS", "Hour", "run_adaptive", "taxi_hours"]

HOURS = 24
_BATCHES_AN_HOUR = 20
_HOUR_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Hour:
    """How uneven the partitions were in an hour: the share of the slowest, in means."""

    hour: int
    publications: int
    pairs: int
    staying: float
    following: float
    made_anew: int


def taxi_hours(folder: DataFolder, most: int) -> list[pa.RecordBatch]:
    """Return where taxis were in each hour of the day, all days of a week together.

    Of an hour that has more than `most` positions, so many are drawn.
    """
    table = folder.table("sf_cabspotting_week")
    hour_of = table["t"].to_numpy() // _HOUR_SECONDS % HOURS
    rng = np.random.default_rng(1)
    hours = []
    for hour in range(HOURS):
        rows = rng.permutation(np.flatnonzero(hour_of == hour))[:most]
        some = table.take(pa.array(rows))
        points = shapely.points(some["lon_e5"].to_numpy() / 1e5, some["lat_e5"].to_numpy() / 1e5)
        ids = pc.cast(pa.array(np.arange(len(rows))), pa.string())
        wkb = pa.array(shapely.to_wkb(points), pa.binary())
        hours.append(pa.record_batch([ids, wkb], names=["id", "geometry"]))
    return hours


def run_adaptive(
    subscriptions: pa.Table, hours: list[pa.RecordBatch], divider: Divider, announce: Announce
) -> list[Hour]:
    """Match every hour with partitions that stay as they are, then with ones that follow.

    The last hour comes before the first, too, and does not count: partitions that follow know
    nothing of the load before.
    """
    read = read_subscriptions(subscriptions)
    gc.collect()
    gc.freeze()  # as in Spark's workers: else one partition has to wait for the garbage of all
    try:
        with _Cells(read, divider, follow=False) as cells:
            staying = list(cells.match_all(hours, "staying", announce))
        with _Cells(read, divider, follow=True) as cells:
            following = list(cells.match_all(hours, "following", announce))
    finally:
        gc.unfreeze()
    found = []
    for number, (stayed, followed) in enumerate(zip(staying, following, strict=True)):
        if not np.array_equal(stayed.pairs, followed.pairs):
            raise RuntimeError(f"hour {number}: other matches with cells that follow")
        uneven, even = stayed.imbalance, followed.imbalance
        rows, pairs = hours[number].num_rows, len(stayed.pairs)
        found.append(Hour(number, rows, pairs, uneven, even, followed.made_anew))
    return found


@dataclass(frozen=True, slots=True)
class _Matched:
    """What an hour gave with one kind of cells; a pair is a publication and a subscription."""

    imbalance: float
    pairs: NDArray[np.int64]
    made_anew: int


class _Cells:
    """Divided subscriptions, made anew whenever their loads are uneven, if they follow."""

    def __init__(self, read: Subscriptions, divider: Divider, *, follow: bool) -> None:
        self._read = read
        self._divider = divider
        self._follow = follow
        self._balance = Balance()
        self._room = Path(tempfile.mkdtemp(prefix="geocast-bench-"))
        self.made = 0
        self._make(divider.division(read.boxes()))

    def __enter__(self) -> _Cells:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._room)

    def match_all(
        self, hours: list[pa.RecordBatch], kind: str, announce: Announce
    ) -> Iterator[_Matched]:
        """Match hour by hour, after the last."""
        announce(f"cells {kind}, the hour before")
        self._hour(hours[-1])
        for number, hour in enumerate(hours):
            announce(f"cells {kind}, hour {number}: {hour.num_rows:,} publications")
            yield self._hour(hour)

    def _hour(self, hour: pa.RecordBatch) -> _Matched:
        """Match an hour in batches; the loads of every set of cells are compared on their own."""
        before, pairs = self.made, []
        stretches = [_Stretch(self._partitions, {})]
        for part in _slices(hour, _BATCHES_AN_HOUR):
            made, own = self.made, dict[int, Load]()
            pairs.append(self._batch(part, own))
            for cell, load in own.items():
                add_load(stretches[-1].loads, cell, load)
            self._watch(own)
            if self.made > made:
                stretches.append(_Stretch(self._partitions, {}))
        return _Matched(_mean_imbalance(stretches), np.concatenate(pairs), self.made - before)

    def _batch(self, batch: pa.RecordBatch, own: dict[int, Load]) -> NDArray[np.int64]:
        chunk = Chunk(batch, np.arange(batch.num_rows), ())
        sent = [packed(task, 0, p.pack()) for task, p in parcels(chunk, self._holdings, 1)]
        rows, numbers = [], []
        for _, partial in Worker(self._holdings).partials(sent):
            rows.append(np.repeat(partial.row, partial.length))
            numbers.append(partial.number)
            for target, load in partial.loads:
                cell, holding = divmod(target, 2)
                if holding == 0:
                    add_load(own, cell, load)
        pairs = np.column_stack([np.concatenate(rows), np.concatenate(numbers)]).astype(np.int64)
        return pairs[np.lexsort(pairs.T)]

    def _watch(self, own: dict[int, Load]) -> None:
        name = self._folder.name
        outcome = Outcome(0, 0, 0, 0, 0, 0, loads={name: own})
        for _, loads in self._balance.watched([outcome], [name]) if self._follow else ():
            before = Divided.open(self._folder).division
            assert before.partitioning is not None, "only cells can follow"
            cells = adapted(before.partitioning, loads, self._divider.cells)
            if cells is not before.partitioning:
                self.made += 1
                self._make(Division(before.way, before.index, cells.count, cells))

    def _make(self, division: Division) -> None:
        self._partitions = division.count
        self._folder = self._room / f"cells-{self.made}"
        numbers = np.arange(len(self._read.ids), dtype=np.int32)
        divide(self._read, numbers, division, self._folder)
        self._holdings = (Holding(Shipment(self._folder.name, str(self._folder))),)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A time in which the cells were the same."""

    partitions: int
    loads: dict[int, Load]


def _mean_imbalance(stretches: list[_Stretch]) -> float:
    """Return the mean of stretches of time, each counting by how long all partitions took."""
    lasted = [sum(load.seconds for load in stretch.loads.values()) for stretch in stretches]
    if not any(lasted):
        return 1.0
    found = [imbalance(stretch.loads, stretch.partitions) for stretch in stretches]
    return float(np.average(found, weights=lasted))


def _slices(batch: pa.RecordBatch, count: int) -> Iterator[pa.RecordBatch]:
    edges = np.linspace(0, batch.num_rows, count + 1).astype(int).tolist()
    for first, last in pairwise(edges):
        yield batch.slice(first, last - first)
