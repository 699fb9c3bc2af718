"""Matching on Spark, Parquet to Parquet, beside what it could at best be.

Publications come as a DataFrame, or as files that workers read themselves. Two yardsticks: the
same plan without matching, whose workers hand out answers of the same size that were prepared
beforehand; and the same core in two plain processes, each of which reads half of the files. Every
round has publications of its own: whoever saw one before remembers what it matched, and a round
would measure by which worker a file happens to be read again.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from geocast.bench.core import Announce, Options
from geocast.bench.results import Agreement, Measurement, Results
from geocast.bench.thesis.batch import read_parts
from geocast.bench.thesis.door import matched, matched_files, prepared
from geocast.bench.thesis.workloads import write_parts
from geocast.bench.workload import Workload
from geocast.match.matcher import Matcher
from geocast.model import MATCHES, Rejects

__all__ = ["FILES_ON_SPARK", "NO_MATCHING", "ON_SPARK", "TWO_PROCESSES", "run_transport"]

ON_SPARK = "geocast on Spark"
FILES_ON_SPARK = "geocast on Spark, files"
NO_MATCHING = "Spark without matching"
TWO_PROCESSES = "geocast in two processes"

_SCHEMA = "publication string, subscriptions array<string>"
_BATCH_ROWS = 100_000
_FILE_BYTES = 100 << 20
_PREPARED_ROWS = 200_000
_PROCESSES = 2


Way = Callable[[Path, Path], Callable[[], None]]
"""Makes ready to match the publications of one folder into another; what it returns does it."""


def run_transport(
    name: str,
    workload: Workload,
    session: SparkSession,
    options: Options,
    results: Results,
    announce: Announce,
) -> None:
    """Measure them by the clock on the wall, in turn, after a round that does not count.

    The publications are divided among the rounds.
    """
    rounds = range(options.repetitions + 1)
    with tempfile.TemporaryDirectory(prefix="geocast-bench-") as folder:
        room = Path(folder)
        announce(f"{name}: index of {workload.subscriptions.num_rows:,} subscriptions")
        shares = _divide(workload.publications, len(rounds))
        index = _save_index(workload.subscriptions, room)
        with _Processes(index) as processes:
            ways = _ways(workload, session, room, index) | {TWO_PROCESSES: processes.prepare}
            for number, share in zip(rounds, shares, strict=True):
                _write_files(share, room / str(number))
                for engine, prepare in ways.items():
                    announce(f"{name}: {engine}, round {number} of {options.repetitions}")
                    seconds = _wall(prepare(room / str(number), room / engine))
                    if number:
                        sizes = workload.subscriptions.num_rows, share.num_rows
                        _note(name, engine, number - 1, sizes, room / engine, seconds, results)
        _compare(name, room, shares[-1].num_rows, results)


def _divide(publications: pa.Table, count: int) -> list[pa.Table]:
    each = max(1, publications.num_rows // count)
    return [publications.slice(number * each, each) for number in range(count)]


def _ways(workload: Workload, session: SparkSession, room: Path, index: Path) -> dict[str, Way]:
    answers = _prepare_answers(workload.publications, index, room)
    # Each its own: a matcher remembers what it has seen, and both see the same files.
    algorithm, by_workers = (prepared("RIS", workload.subscriptions, 0) for _ in range(2))

    def without_matching(files: Path, out: Path) -> Callable[[], None]:
        frame = read_parts(session, files).select("id", "geometry")
        return partial(_write_frame, frame.mapInArrow(answers.hand_out, _SCHEMA), out)

    def with_matching(files: Path, out: Path) -> Callable[[], None]:
        return partial(_write_frame, matched(algorithm, read_parts(session, files)), out)

    def by_files(files: Path, out: Path) -> Callable[[], None]:
        return lambda: _write_frame(matched_files(session, by_workers, files), out)

    return {NO_MATCHING: without_matching, ON_SPARK: with_matching, FILES_ON_SPARK: by_files}


def _write_frame(frame: DataFrame, out: Path) -> None:
    frame.write.mode("overwrite").parquet(str(out))


@dataclass(frozen=True, slots=True)
class _PreparedAnswers:
    """Lists of subscriptions in a file, and the share of publications that have one."""

    path: str
    share: float

    def hand_out(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Answer every batch with the next of the prepared lists, without looking at it."""
        with pa.memory_map(self.path) as source:
            lists = pa.ipc.open_file(source).read_all()["subscriptions"].combine_chunks()
        start = 0
        for batch in batches:
            count = round(batch.num_rows * self.share)
            chosen = _cyclic_slice(lists, start, count)
            start = (start + count) % max(len(lists), 1)
            ids = batch.column("id").slice(0, count)
            yield pa.record_batch([ids, chosen], names=["publication", "subscriptions"])


def _cyclic_slice(lists: pa.Array, start: int, count: int) -> pa.Array:
    first = lists.slice(start, count)
    if len(first) == count:
        return first
    rest = _cyclic_slice(lists, 0, count - len(first))
    return pa.concat_arrays([first, rest])


def _prepare_answers(publications: pa.Table, index: Path, room: Path) -> _PreparedAnswers:
    sample = publications.slice(0, _PREPARED_ROWS)
    answer = Matcher.open(index).match(sample, rejects=Rejects()).cast(MATCHES)
    path = room / "answers.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, MATCHES) as writer:
        writer.write_table(answer)
    return _PreparedAnswers(str(path), answer.num_rows / sample.num_rows)


def _write_files(publications: pa.Table, directory: Path) -> None:
    """Write files of equal size, as many for each process, none larger than Spark reads at once.

    Were they unequal, some task would be the last, and what was measured its size.
    """
    each = max(1, -(-publications.nbytes // (_PROCESSES * _FILE_BYTES)))
    write_parts(publications, directory, _PROCESSES * each)


def _save_index(subscriptions: pa.Table, room: Path) -> Path:
    directory = room / "index"
    Matcher(subscriptions).save(directory)
    return directory


class _Processes:
    """Two processes that keep the index open between rounds, as Spark's workers do."""

    def __init__(self, index: Path) -> None:
        self._pool = ProcessPoolExecutor(
            _PROCESSES, get_context("spawn"), initializer=_open_index, initargs=(index,)
        )

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def prepare(self, files: Path, out: Path) -> Callable[[], None]:
        """Make ready to match the files of a folder, each process one after another."""
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        parts = sorted(files.iterdir())
        return partial(self._run, parts, [out / part.name for part in parts])

    def _run(self, parts: list[Path], outs: list[Path]) -> None:
        for _ in self._pool.map(_match_part, parts, outs):
            pass


_opened: list[Matcher] = []
"""The matcher of a worker process: set when it starts, as initialisers cannot return."""


def _open_index(index: Path) -> None:
    _opened[:] = [Matcher.open(index)]


def _match_part(part: Path, out: Path) -> None:
    with pq.ParquetWriter(out, MATCHES) as writer:
        for batch in pq.ParquetFile(part).iter_batches(_BATCH_ROWS, columns=["id", "geometry"]):
            writer.write_table(_opened[0].match(batch, rejects=Rejects()).cast(MATCHES))


def _wall(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _note(
    name: str,
    engine: str,
    repetition: int,
    sizes: tuple[int, int],
    out: Path,
    seconds: float,
    results: Results,
) -> None:
    """Note a round with so many subscriptions and publications."""
    pairs = _count_pairs(pq.read_table(out, columns=["subscriptions"]))
    results.measurements.append(
        Measurement(name, engine, repetition, *sizes, pairs, 0.0, seconds, "wall")
    )


def _compare(name: str, room: Path, rows: int, results: Results) -> None:
    """Compare the answers of Spark and of the processes; single pairs only where they differ."""
    mine, *others = (
        pq.read_table(room / engine).cast(MATCHES).sort_by("publication")
        for engine in (ON_SPARK, FILES_ON_SPARK, TWO_PROCESSES)
    )
    pairs = _count_pairs(mine)
    for engine, theirs in zip((FILES_ON_SPARK, TWO_PROCESSES), others, strict=True):
        shared = pairs if mine.equals(theirs) else _shared_pairs(mine, theirs)
        lacking, surplus = pairs - shared, _count_pairs(theirs) - shared
        results.agreements.append(Agreement(name, engine, rows, pairs, lacking, surplus))


def _shared_pairs(left: pa.Table, right: pa.Table) -> int:
    left, right = _pairs(left), _pairs(right)
    return int(left.join(right, left.column_names, join_type="inner").num_rows)


def _pairs(answer: pa.Table) -> pa.Table:
    lists = answer["subscriptions"].combine_chunks()
    publications = answer["publication"].combine_chunks().take(pc.list_parent_indices(lists))
    return pa.table({"publication": publications, "subscription": pc.list_flatten(lists)})


def _count_pairs(answer: pa.Table) -> int:
    return pc.sum(pc.list_value_length(answer["subscriptions"])).as_py() or 0
