"""The ten predicates on pairs of geometries, publication first, by shapely alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

__all__ = [
    "CONVERSE",
    "PREDICATES",
    "Geometries",
    "Pairs",
    "holds",
    "pairs_by_predicate",
    "relation_names",
]

Geometries = NDArray[np.object_]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

PREDICATES: dict[str, Callable[[Any, Any], Any]] = {
    "equals": shapely.equals,
    "disjoint": shapely.disjoint,
    "touches": shapely.touches,
    "crosses": shapely.crosses,
    "within": shapely.within,
    "overlaps": shapely.overlaps,
    "contains": shapely.contains,
    "intersects": shapely.intersects,
    "covers": shapely.covers,
    "coveredby": shapely.covered_by,
}

CONVERSE = {name: name for name in PREDICATES} | {
    "within": "contains",
    "contains": "within",
    "covers": "coveredby",
    "coveredby": "covers",
}

_BLOCK = 1_000_000


def holds(predicate: str, publication: Any, area: Any) -> bool:
    return bool(PREDICATES[predicate](publication, area))


def relation_names(publication: Any, area: Any) -> frozenset[str]:
    return frozenset(name for name in PREDICATES if holds(name, publication, area))


def pairs_by_predicate(
    publications: Geometries, areas: Geometries, predicates: Iterable[str] = tuple(PREDICATES)
) -> dict[str, Pairs]:
    """All pairs (publication, area) for which each predicate holds, every pair asked plainly."""
    found: dict[str, list[Pairs]] = {name: [] for name in predicates}
    for rows, columns in _all_pairs(len(publications), len(areas)):
        left, right = publications[rows], areas[columns]
        for name, parts in found.items():
            hit = PREDICATES[name](left, right)
            parts.append((rows[hit], columns[hit]))
    return {name: _joined(parts) for name, parts in found.items()}


def _all_pairs(rows: int, columns: int) -> Iterator[Pairs]:
    step = max(1, _BLOCK // max(1, columns))
    for start in range(0, rows, step):
        block = np.arange(start, min(rows, start + step), dtype=np.int64)
        yield (
            np.repeat(block, columns),
            np.tile(np.arange(columns, dtype=np.int64), len(block)),
        )


def _joined(parts: list[Pairs]) -> Pairs:
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
