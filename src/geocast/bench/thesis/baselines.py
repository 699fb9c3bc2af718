"""One process, several threads, no Spark: the same core, or plain predicates.

Each thread takes a file of publications, matches it, writes its answer, and takes the next.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from geocast.bench.measure import one_thread
from geocast.bench.peers import Pairs
from geocast.bench.peers.shapely_plain import SHAPELY_NAMES
from geocast.bench.thesis.answers import digest_of_files
from geocast.bench.thesis.rivals import CENTRAL, PLAIN
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.workloads import Files
from geocast.match.index import INDEXES
from geocast.match.matcher import Matcher
from geocast.model import MATCHES, Rejects

__all__ = ["measure_threads"]

_DISJOINT: Final = "disjoint"
_Match = Callable[[pa.Table], pa.Table]


def measure_threads(setting: Setting, files: Files, room: Path) -> Found:
    """Match a few publications first, with all threads, then all of them."""
    began = time.perf_counter()
    opener = _core(setting, files, room) if setting.way == "threads" else _plain(setting, files)
    built = time.perf_counter() - began
    with one_thread(), _Threads(opener, setting.cores) as threads:
        threads.run(files.warm, room / "warm")
        took = threads.run(files.parts, room / "out")
    pairs, matches = digest_of_files(room / "out", files)
    rate = files.publications.num_rows / took
    return Found(rate=rate, seconds=took, build_seconds=built, pairs=pairs, matches=matches)


class _Threads:
    """Threads that each open a matcher of their own, when they start."""

    def __init__(self, opener: Callable[[], _Match], count: int) -> None:
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(count, initializer=self._open, initargs=(opener,))
        self._barrier = threading.Barrier(count)
        for opened in [self._pool.submit(self._barrier.wait) for _ in range(count)]:
            opened.result()

    def __enter__(self) -> _Threads:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def run(self, parts: Path, out: Path) -> float:
        """Match all files of a folder and return the seconds that it took."""
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        began = time.perf_counter()
        sources = sorted(parts.iterdir())
        list(self._pool.map(self._match, sources, [out / source.name for source in sources]))
        return time.perf_counter() - began

    def _open(self, opener: Callable[[], _Match]) -> None:
        self._own.match = opener()

    def _match(self, source: Path, target: Path) -> None:
        publications = pq.read_table(source, columns=["id", "geometry"])
        pq.write_table(self._own.match(publications).cast(MATCHES), target)


def _core(setting: Setting, files: Files, room: Path) -> Callable[[], _Match]:
    """Save the matcher once; every thread maps it."""
    index = room / "index"
    shutil.rmtree(index, ignore_errors=True)
    Matcher(files.subscriptions, index=CENTRAL[setting.engine]).save(index)

    def opener() -> _Match:
        matcher = Matcher.open(index)
        return lambda publications: matcher.match(publications, rejects=Rejects())

    return opener


def _plain(setting: Setting, files: Files) -> Callable[[], _Match]:
    """Build the index once; neither it nor shapely's predicates change anything."""
    areas = shapely.from_wkb(files.subscriptions["geometry"].to_numpy())
    index = INDEXES[PLAIN[setting.engine]].build(shapely.bounds(areas))
    asked = np.array(files.subscriptions["predicate"].to_pylist())
    names = files.subscriptions["id"].combine_chunks()

    def match(publications: pa.Table) -> pa.Table:
        events = shapely.from_wkb(publications["geometry"].to_numpy())
        offsets, area = index.query(shapely.bounds(events))
        event = np.repeat(np.arange(len(events)), np.diff(offsets))
        pairs = Pairs.join(_refined(events, areas, asked, event, area))
        return _table(pairs, publications["id"], names)

    return lambda: match


def _refined(
    events: NDArray[np.object_],
    areas: NDArray[np.object_],
    asked: NDArray[np.str_],
    event: NDArray[np.int64],
    area: NDArray[np.int32],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.integer]]]:
    """Yield the candidates whose plain predicate holds, predicate by predicate.

    What no index finds is `disjoint`: those are all but the candidates that intersect.
    """
    for name in np.unique(asked):
        chosen = asked[area] == name
        left, right = event[chosen], area[chosen]
        plain = "intersects" if name == _DISJOINT else SHAPELY_NAMES.get(name, name)
        holds = getattr(shapely, plain)(events[left], areas[right])
        if name == _DISJOINT:
            yield _all_but(left[holds], right[holds], len(events), asked == name)
        else:
            yield left[holds], right[holds]


def _all_but(
    left: NDArray[np.int64], right: NDArray[np.int32], events: int, asking: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of an event and an area that asks, without those given."""
    apart = np.tile(asking, (events, 1))
    apart[left, right] = False
    event, area = np.nonzero(apart)
    return event, area


def _table(pairs: Pairs, publications: pa.ChunkedArray, subscriptions: pa.Array) -> pa.Table:
    """Return the pairs as matches: a row a publication, with its subscriptions."""
    order = np.argsort(pairs.publications, kind="stable")
    rows, starts = np.unique(pairs.publications[order], return_index=True)
    offsets = pa.array(np.append(starts, len(order)), pa.int32())
    found = subscriptions.take(pa.array(pairs.subscriptions[order]))
    lists = pa.ListArray.from_arrays(offsets, found)
    return pa.table({"publication": publications.take(pa.array(rows)), "subscriptions": lists})
