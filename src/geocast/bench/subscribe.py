"""What a change of subscriptions costs, and how soon it counts, by how many stand already.

A store of snapshots is filled with small areas. Then some are replaced by others, one change each:
the store applies the changes, and another process opens the new version and matches a batch
with it. Among the batch are points in the new areas and in the old ones, by which it is checked
that the former match and the latter do so no more.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload import RECIPES, Workload, make
from geocast.snapshot import SnapshotMatcher, SnapshotStore

__all__ = [
    "CHANGES",
    "Activation",
    "count_rounds",
    "run_subscribe",
    "summarised",
    "write_activations",
]

CHANGES = (1, 10, 100)
"""How many subscriptions are replaced at once."""

_BATCH = 2_000
_RECIPE = RECIPES["million"]


@dataclass(frozen=True, slots=True)
class Activation:
    """Some subscriptions were replaced among those that stand, and matched in another process.

    Seconds are from the wall clock: `seconds` is the whole, from the change at hand to the answer
    of the other process; `written` are bytes, `standing_bytes` those of what stood before.
    `correct` says that the new areas matched and the old ones did not.
    """

    standing: int
    changes: int
    repetition: int
    apply_seconds: float
    open_seconds: float
    match_seconds: float
    seconds: float
    written: int
    standing_bytes: int
    correct: bool


def count_rounds(sizes: Sequence[int], repetitions: int) -> int:
    """Return how many things a run announces."""
    return len(sizes) * (2 + len(CHANGES) * repetitions)


def run_subscribe(
    sizes: Sequence[int],
    folder: DataFolder,
    repetitions: int,
    seed: int,
    announce: Callable[[str], None],
) -> list[Activation]:
    """Measure changes over each number of standing subscriptions."""
    found: list[Activation] = []
    spare = sum(CHANGES) * repetitions
    for size in sizes:
        announce(f"{size:,}: drawing areas")
        recipe = replace(_RECIPE, subs=size + spare, pubs=_BATCH, seed=seed)
        workload = make(recipe, folder)
        with tempfile.TemporaryDirectory(prefix="geocast-bench-") as directory:
            announce(f"{size:,}: building the snapshot")
            found += _Round(workload, size, Path(directory)).run(repetitions, announce)
    return found


def summarised(found: Sequence[Activation]) -> list[Activation]:
    """Return medians for each size and number of changes; correct if all are."""
    groups: dict[tuple[int, int], list[Activation]] = {}
    for activation in found:
        groups.setdefault((activation.standing, activation.changes), []).append(activation)
    return [_middle(group) for group in groups.values()]


def _middle(group: Sequence[Activation]) -> Activation:
    return replace(
        group[0],
        apply_seconds=median(one.apply_seconds for one in group),
        open_seconds=median(one.open_seconds for one in group),
        match_seconds=median(one.match_seconds for one in group),
        seconds=median(one.seconds for one in group),
        written=int(median(one.written for one in group)),
        correct=all(one.correct for one in group),
    )


def write_activations(found: Sequence[Activation], directory: Path) -> Path:
    """Write everything that was measured as a Parquet file into the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "activations.parquet"
    pq.write_table(pa.Table.from_pylist([asdict(one) for one in found]), path)
    return path


class _Round:
    """The state of measuring over one number of standing subscriptions.

    Subscription version n is row n of the table; those from `size` on are not there at first.
    """

    def __init__(self, workload: Workload, size: int, directory: Path) -> None:
        ids = pa.array(np.arange(workload.subscriptions.num_rows)).cast(pa.string())
        self._table = workload.subscriptions.set_column(0, "id", ids).drop_columns("subscriber")
        self._events = shapely.from_wkb(workload.publications["geometry"].to_numpy())
        self._size = size
        self._directory = directory
        self._next = size
        self._oldest = 0

    def run(self, repetitions: int, announce: Callable[[str], None]) -> Iterator[Activation]:
        """Measure every number of changes several times."""
        with SnapshotStore(self._directory) as store, _other_process(self._directory) as other:
            base = store.apply(self._table.slice(0, self._size), [], 0)
            other.send((base.version, self._batch([])))
            other.recv()
            for repetition in range(repetitions):
                for changes in CHANGES:
                    announce(f"{self._size:,}: {changes} changes, round {repetition + 1}")
                    yield self._measure(store, other, changes, repetition)
                    self._tidy(store)

    def _measure(
        self, store: SnapshotStore, other: Connection, changes: int, repetition: int
    ) -> Activation:
        new = range(self._next, self._next + changes)
        old = range(self._oldest, self._oldest + changes)
        self._next, self._oldest = new.stop, old.stop
        added, batch = self._table.slice(new.start, changes), self._batch([*new, *old])
        before = store.latest()
        known = _files(self._directory)
        start = time.perf_counter()
        version = store.apply(added, old, new.stop)
        applied = time.perf_counter()
        other.send((version.version, batch))
        opening, matching, pairs = other.recv()
        end = time.perf_counter()
        fresh = _files(self._directory)
        return Activation(
            standing=self._size,
            changes=changes,
            repetition=repetition,
            apply_seconds=applied - start,
            open_seconds=opening,
            match_seconds=matching,
            seconds=end - start,
            written=sum(size for path, size in fresh.items() if path not in known),
            standing_bytes=before.bytes if before else 0,
            correct=_is_correct(pairs, new, old),
        )

    def _batch(self, numbers: Sequence[int]) -> pa.RecordBatch:
        """Return points in these areas, and events up to the size of a batch."""
        areas = shapely.from_wkb(self._table["geometry"].take(pa.array(numbers, pa.int64())))
        points = [*shapely.point_on_surface(areas), *self._events[: _BATCH - len(numbers)]]
        ids = pa.array([str(row) for row in range(len(points))])
        return pa.record_batch(
            {"id": ids, "geometry": pa.array(shapely.to_wkb(points), pa.binary())}
        )

    def _tidy(self, store: SnapshotStore) -> None:
        """Do what happens in the background: join parts, and remove what is not needed."""
        while plan := store.plan_merge():
            table = self._table.take(pa.array(plan.vnumbers))
            store.install(plan, store.merge(plan, [table]))
        store.remove_unneeded(set())


def _is_correct(pairs: NDArray[np.int64], new: range, old: range) -> bool:
    """Whether each new area matches the point in it, and no old one matches anything."""
    own = pairs[np.isin(pairs[:, 1], new)]
    matched = set(map(tuple, own.tolist())) >= set(enumerate(new))
    return matched and not np.isin(pairs[:, 1], old).any()


def _files(directory: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in directory.rglob("*") if path.is_file()}


@contextmanager
def _other_process(directory: Path) -> Iterator[Connection]:
    """Start a process that opens versions and matches batches as it is told."""
    context = multiprocessing.get_context("spawn")
    mine, its = context.Pipe()
    process = context.Process(target=_answer, args=(directory, its), daemon=True)
    process.start()
    its.close()
    try:
        yield mine
    finally:
        mine.close()
        process.join()


def _answer(directory: Path, connection: Connection) -> None:
    """Answer (version, batch) by seconds to open, seconds to match, and pairs."""
    while True:
        try:
            version, batch = connection.recv()
        except EOFError:
            return
        start = time.perf_counter()
        matcher = SnapshotMatcher.open(directory, version)
        opened = time.perf_counter()
        answer = matcher.answer(batch)
        end = time.perf_counter()
        pairs = np.column_stack([answer.row, answer.vnumber])
        connection.send((opened - start, end - opened, pairs))
