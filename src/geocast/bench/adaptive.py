"""Partitions that follow the load, beside ones that stay: the taxis of a day, hour by hour."""

from __future__ import annotations

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
_DAY_SECONDS = 86_400
_FIRST_DAY = 2  # the third of the week: a working day


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
    """Return the positions of taxis in each hour of a day, at most so many an hour."""
    table = folder.table("sf_cabspotting_week")
    seconds = table["t"].to_numpy()
    first = int(seconds.min()) + _FIRST_DAY * _DAY_SECONDS
    rng = np.random.default_rng(1)
    hours = []
    for hour in range(HOURS):
        begin = first + 3600 * hour
        rows = np.flatnonzero((seconds >= begin) & (seconds < begin + 3600))
        rows = rng.permutation(rows)[:most]
        some = table.take(pa.array(rows))
        points = shapely.points(some["lon_e5"].to_numpy() / 1e5, some["lat_e5"].to_numpy() / 1e5)
        ids = pc.cast(pa.array(np.arange(len(rows))), pa.string())
        wkb = pa.array(shapely.to_wkb(points), pa.binary())
        hours.append(pa.record_batch([ids, wkb], names=["id", "geometry"]))
    return hours


def run_adaptive(
    subscriptions: pa.Table, hours: list[pa.RecordBatch], divider: Divider, announce: Announce
) -> list[Hour]:
    """Match every hour with partitions that stay as they are and with ones that follow."""
    read = read_subscriptions(subscriptions)
    with _Cells(read, divider, follow=False) as staying, _Cells(read, divider) as following:
        found = []
        for number, batch in enumerate(hours):
            announce(f"hour {number}: {batch.num_rows:,} publications")
            before = following.made
            uneven, pairs = staying.match(batch)
            even, same = following.match(batch)
            if pairs != same:
                raise RuntimeError(f"hour {number}: {pairs} pairs, and {same} with other cells")
            made = following.made - before
            found.append(Hour(number, batch.num_rows, pairs, uneven, even, made))
        return found


class _Cells:
    """Divided subscriptions, made anew whenever their loads are uneven, if they follow."""

    def __init__(self, read: Subscriptions, divider: Divider, *, follow: bool = True) -> None:
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

    def match(self, batch: pa.RecordBatch) -> tuple[float, int]:
        """Match an hour in batches; return the share of the slowest partition, and the pairs."""
        loads: dict[int, Load] = {}
        pairs = 0
        for part in _slices(batch, _BATCHES_AN_HOUR):
            own: dict[int, Load] = {}
            pairs += self._batch(part, own)
            for cell, load in own.items():
                add_load(loads, self._ancestor(cell), load)
            self._watch(own)
        return imbalance(loads), pairs

    def _ancestor(self, cell: int) -> int:
        """Cells made anew are other partitions: their loads are not those of old ones."""
        return cell + self.made * 1_000_000

    def _batch(self, batch: pa.RecordBatch, own: dict[int, Load]) -> int:
        chunk = Chunk(batch, np.arange(batch.num_rows), ())
        sent = [packed(task, 0, p.pack()) for task, p in parcels(chunk, self._holdings, 1)]
        pairs = 0
        for _, partial in Worker(self._holdings).partials(sent):
            pairs += len(partial.row)
            for target, load in partial.loads:
                cell, holding = divmod(target, 2)
                if holding == 0:
                    add_load(own, cell, load)
        return pairs

    def _watch(self, own: dict[int, Load]) -> None:
        name = self._folder.name
        outcome = Outcome(0, 0, 0, 0, 0, 0, loads={name: own})
        for _, loads in self._balance.uneven([outcome], [name]) if self._follow else ():
            before = Divided.open(self._folder).division
            assert before.partitioning is not None, "only cells can follow"
            cells = adapted(before.partitioning, loads, self._divider.cells)
            self.made += 1
            self._make(Division(before.way, before.index, cells.count, cells))

    def _make(self, division: Division) -> None:
        self._folder = self._room / f"cells-{self.made}"
        numbers = np.arange(len(self._read.ids), dtype=np.int32)
        divide(self._read, numbers, division, self._folder)
        self._holdings = (Holding(Shipment(self._folder.name, str(self._folder))),)


def _slices(batch: pa.RecordBatch, count: int) -> Iterator[pa.RecordBatch]:
    edges = np.linspace(0, batch.num_rows, count + 1).astype(int).tolist()
    for first, last in pairwise(edges):
        yield batch.slice(first, last - first)
