"""The core on the same cores: as many processes, Parquet in, Parquet out, no Spark and no Kafka."""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from geocast.bench.kafka.scene import KafkaScene
from geocast.match.matcher import Matcher
from geocast.model import MATCHES, Rejects

__all__ = ["PROCESSES", "CoreRate", "measure_core"]

PROCESSES: Final = 2
_BATCH_ROWS: Final = 100_000


@dataclass(frozen=True, slots=True)
class CoreRate:
    """Publications a second by the clock.

    `fresh` is the first time, after the publications for warming up; `again` when all geometries
    have been matched before; `cold` is one process that has matched nothing yet.
    """

    cold: float
    fresh: float
    again: float


def measure_core(scene: KafkaScene) -> CoreRate:
    """Match the publications of a scene, half of them in each process."""
    everything = scene.workload.publications
    parts = _halves(everything.slice(scene.warm))
    with tempfile.TemporaryDirectory(prefix="geocast-bench-") as name, ExitStack() as stack:
        room = Path(name)
        Matcher(scene.workload.subscriptions).save(room / "index")
        pq.write_table(everything.slice(0, scene.warm), room / "warm.parquet")
        for number, part in enumerate(parts):
            pq.write_table(part, room / f"part-{number}.parquet")
        pools = [stack.enter_context(_process(room)) for _ in parts]
        cold = pools[0].submit(_match, room / "part-0.parquet", True).result()
        for pool in pools:
            pool.submit(_match, room / "warm.parquet", True).result()
        fresh, again = (_together(pools, room) for _ in range(2))
    count = everything.num_rows - scene.warm
    return CoreRate(parts[0].num_rows / cold, count / fresh, count / again)


def _halves(table: pa.Table) -> list[pa.Table]:
    each = -(-table.num_rows // PROCESSES)
    return [table.slice(start, each) for start in range(0, table.num_rows, each)]


def _process(room: Path) -> ProcessPoolExecutor:
    """Return a process that has the index open, and all code compiled."""
    pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_open, initargs=(room,))
    pool.submit(_match, room / "warm.parquet", True).result()
    return pool


def _together(pools: list[ProcessPoolExecutor], room: Path) -> float:
    began = time.perf_counter()
    work = [
        pool.submit(_match, room / f"part-{number}.parquet", False)
        for number, pool in enumerate(pools)
    ]
    for one in work:
        one.result()
    return time.perf_counter() - began


_room: list[Path] = []
_opened: list[Matcher] = []
"""Of a worker process: set when it starts, as initialisers cannot return."""


def _open(room: Path) -> None:
    _room[:] = [room]
    _opened[:] = [Matcher.open(room / "index")]


def _match(part: Path, afresh: bool) -> float:
    """Match a file, with a matcher that has seen nothing if asked for; return the seconds."""
    if afresh:
        _open(_room[0])
    began = time.perf_counter()
    with pq.ParquetWriter(part.with_suffix(".out"), MATCHES) as writer:
        for batch in pq.ParquetFile(part).iter_batches(_BATCH_ROWS, columns=["id", "geometry"]):
            writer.write_table(_opened[0].match(batch, rejects=Rejects()).cast(MATCHES))
    return time.perf_counter() - began
