"""The judge: who had to be told what, by brute force and the book-keeping of the service.

The ledger says which batch a publication was in and which version of the subscriptions the batch
was pinned to; the repository says in which versions a subscription stood. Whether the two match
is decided by shapely's plain predicates and a comparison; no code of the matching core is used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import orjson
import shapely
from numpy.typing import NDArray

from geocast.bench.chaos.world import Interest
from geocast.log import Log
from geocast.model import split_key
from geocast.repository import Repository

__all__ = [
    "Expected",
    "Heard",
    "Published",
    "Stood",
    "Wrong",
    "compare",
    "expected",
    "late_activations",
    "published",
]

Heard = tuple[str, str, int]
"""A match as a subscriber sees it: publication, subscription, version."""


@dataclass(frozen=True, slots=True)
class Published:
    """All publications of the log, in arrays; `snapshot` is what each was matched against."""

    ids: list[str]
    geometries: NDArray[np.object_]
    levels: NDArray[np.int64]
    batch: NDArray[np.int64]
    snapshot: NDArray[np.int64]
    times: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stood:
    """A version of a subscription: in the snapshots [first, last) it stood; None: not yet, still.

    `asked` says what, as the harness asked for it.
    """

    subscription: str
    version: int
    asked: Interest
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A breach of one of the three guarantees."""

    guarantee: Literal["liveness", "legality", "uniqueness"]
    text: str


Expected = Counter[Heard]


def published(log: Log, repository: Repository, query: str) -> Published:
    """Read everything that was published, and what each was matched against.

    In a log that others write to as well, a record whose key stands before it is no publication.
    """
    pins = _pins(repository, query)
    ids, geometries, levels, pinned, times = [], [], [], [], []
    known: set[str] = set()
    for partition, end in enumerate(log.ends()):
        start = 0
        while start < end:
            batch = log.read(partition, start, end)
            if not batch.num_rows:
                break
            for offset, time, key, value in zip(
                *(batch.column(name).to_pylist() for name in ("offset", "time", "key", "value")),
                strict=True,
            ):
                if log.shared and key in known:
                    continue
                known.add(key)
                feature = orjson.loads(value)
                ids.append(split_key(key)[1])
                geometries.append(orjson.dumps(feature["geometry"]).decode())
                levels.append(feature["properties"]["level"])
                pinned.append(pins[partition, offset])
                times.append(time)
            start = offset + 1
    batch, snapshot = np.array(pinned, np.int64).reshape(-1, 2).T
    return Published(
        ids,
        np.asarray(shapely.from_geojson(geometries), dtype=object),
        np.array(levels, np.int64),
        batch,
        snapshot,
        np.array(times, np.int64),
    )


def _pins(repository: Repository, query: str) -> dict[tuple[int, int], tuple[int, int]]:
    """Return batch and snapshot of each (partition, offset), and check that none is there twice."""
    pins: dict[tuple[int, int], tuple[int, int]] = {}
    after = -1
    while entries := repository.ledger.entries(query, after=after, limit=1000):
        for entry in entries:
            for partition, (start, stop) in entry.ranges.items():
                for offset in range(start, stop):
                    assert (partition, offset) not in pins, "an offset is in two batches"
                    pins[partition, offset] = entry.batch, entry.snapshot
        after = entries[-1].batch
    return pins


def expected(events: Published, versions: Iterable[Stood], without: frozenset[str]) -> Expected:
    """Return every match that a subscriber must be told of, publications `without` left out."""
    found: Expected = Counter()
    keep = np.array([identifier not in without for identifier in events.ids], np.bool_)
    for stood in versions:
        if stood.first is None:
            continue
        last = math.inf if stood.last is None else stood.last
        active = keep & (events.snapshot >= stood.first) & (events.snapshot < last)
        if stood.asked.least is not None:
            active &= events.levels >= stood.asked.least
        rows = np.flatnonzero(active)
        area = shapely.from_geojson(orjson.dumps(stood.asked.geometry).decode())
        for row in rows[_holds(stood.asked.predicate, events.geometries[rows], area)]:
            found[events.ids[row], stood.subscription, stood.version] += 1
    return found


def _holds(
    predicate: str, geometries: NDArray[np.object_], area: shapely.Geometry
) -> NDArray[np.bool_]:
    function = {"coveredby": shapely.covered_by}.get(predicate)
    return np.asarray((function or getattr(shapely, predicate))(geometries, area), np.bool_)


def late_activations(
    events: Published, versions: Iterable[Stood], seen: Mapping[tuple[str, int], int]
) -> list[Wrong]:
    """Return what was matched without a subscription that somebody had seen active before."""
    wrong = []
    for stood in versions:
        moment = seen.get((stood.subscription, stood.version))
        if moment is None:
            continue
        first = math.inf if stood.first is None else stood.first
        for row in np.flatnonzero((events.times > moment) & (events.snapshot < first)):
            what = f"{stood.subscription} version {stood.version}"
            text = f"{events.ids[row]} was published after {what} was active"
            wrong.append(Wrong("liveness", text))
    return wrong


def compare(who: str, heard: Mapping[Heard, int], must: Expected) -> list[Wrong]:
    """Return what is wrong: missing, twice, or not a match."""
    wrong = []
    for match, times in heard.items():
        if match not in must:
            wrong.append(Wrong("legality", f"{who}: {match} is no match, but was heard"))
        elif times > 1:
            wrong.append(Wrong("uniqueness", f"{who}: {match} was heard {times} times"))
    missing = (match for match in must if match not in heard)
    return wrong + [Wrong("liveness", f"{who}: {match} was never heard") for match in missing]
