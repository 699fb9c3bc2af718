"""Publications and subscriptions for the tests, and what should match, by the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import shapely

from geocast.snapshot import SnapshotMatcher
from tests.oracle import evaluate, holds

__all__ = [
    "FILTERS",
    "PUBLICATIONS",
    "Wanted",
    "batch_of",
    "boxes",
    "everywhere",
    "found",
    "matched",
    "subscription_table",
]

_SQUARE = shapely.box(1, 1, 3, 3)

PUBLICATIONS: Sequence[Mapping[str, Any]] = [
    {"id": "a", "geometry": shapely.Point(1, 1), "speed": 5, "kind": "bus"},
    {"id": "b", "geometry": shapely.Point(2.5, 1.5), "speed": None, "kind": "car"},
    {"id": "a", "geometry": shapely.Point(0.5, 3), "speed": 2, "kind": None},
    {"id": "c", "geometry": _SQUARE, "speed": 4, "kind": "bus"},
    {"id": "b", "geometry": shapely.LineString([(0, 0), (4, 4)]), "speed": 9, "kind": "car"},
    {"id": "e", "geometry": _SQUARE.boundary, "speed": None, "kind": None},
    {"id": "d", "geometry": shapely.MultiPoint([(0, 0), (2, 2)]), "speed": 1, "kind": "bus"},
]
"""Some ids repeat: they are unique for each publisher only."""

FILTERS = (
    None,
    "speed > 3",
    "kind = 'bus' OR speed IS NULL",
    "id = 'a'",
    "NOT (kind = 'car') AND speed < 5",
)


@dataclass(frozen=True)
class Wanted:
    """What one subscription asks for."""

    geometry: Any
    predicate: str | None = None
    filter: str | None = None


def subscription_table(wanted: Mapping[int, Wanted]) -> pa.Table:
    """Subscriptions by version number, as the repository gives them."""
    shapes = [w.geometry for w in wanted.values()]
    return pa.table(
        {
            "id": pa.array([str(number) for number in wanted], pa.string()),
            "geometry": pa.array(
                [g if g is None else shapely.to_wkb(g) for g in shapes], pa.binary()
            ),
            "predicate": pa.array([w.predicate for w in wanted.values()], pa.string()),
            "filter": pa.array([w.filter for w in wanted.values()], pa.string()),
        }
    )


def batch_of(publications: Sequence[Mapping[str, Any]] = PUBLICATIONS) -> pa.RecordBatch:
    geometry = [shapely.to_wkb(p["geometry"]) for p in publications]
    return pa.record_batch(
        {
            "id": pa.array([p["id"] for p in publications], pa.string()),
            "geometry": pa.array(geometry, pa.binary()),
            "speed": pa.array([p.get("speed") for p in publications], pa.int64()),
            "kind": pa.array([p.get("kind") for p in publications], pa.string()),
        }
    )


def matched(
    wanted: Wanted, publications: Iterable[Mapping[str, Any]] = PUBLICATIONS
) -> frozenset[int]:
    """The rows that a subscription should match."""
    predicate = wanted.predicate or "intersects"
    return frozenset(
        row
        for row, publication in enumerate(publications)
        if (wanted.geometry is None or holds(predicate, publication["geometry"], wanted.geometry))
        and (wanted.filter is None or evaluate(wanted.filter, publication) is True)
    )


def found(matcher: SnapshotMatcher, batch: pa.RecordBatch) -> list[tuple[int, int]]:
    """The pairs of an answer, checked for form."""
    answer = matcher.answer(batch)
    assert answer.row.dtype == answer.vnumber.dtype == np.int64
    pairs = list(zip(answer.row.tolist(), answer.vnumber.tolist(), strict=True))
    assert pairs == sorted(set(pairs)), "pairs are not sorted, or repeat"
    return pairs


def boxes(numbers: Iterable[int], seed: int = 0) -> dict[int, Wanted]:
    """Subscriptions to small areas all over the world."""
    rng = np.random.default_rng(seed)
    chosen = list(numbers)
    corner = rng.uniform((-170, -80), (170, 80), (len(chosen), 2))
    size = rng.uniform(0.1, 3, (len(chosen), 2))
    shapes = shapely.box(*corner.T, *(corner + size).T)
    return {number: Wanted(shape) for number, shape in zip(chosen, shapes, strict=True)}


def everywhere(numbers: Iterable[int]) -> dict[int, Wanted]:
    """Subscriptions to all of the publications."""
    return {number: Wanted(shapely.box(-10, -10, 10, 10)) for number in numbers}
