"""The oracle on large sides: candidates by bounding boxes, every distinct pair asked once.

Still shapely's plain predicates; only pairs whose boxes do not meet are not asked, and a pair
of equal geometries (bytes of WKB) is asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tests.oracle.spatial import PREDICATES, Geometries, Pairs

__all__ = ["mixed_pairs", "relation_pairs"]


@dataclass(frozen=True)
class _Distinct:
    """Distinct geometries, and for each the rows that have it (offsets into `rows`)."""

    geometries: Geometries
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, geometries: Geometries) -> _Distinct:
        places: dict[bytes, int] = {}
        group = np.array([places.setdefault(g, len(places)) for g in shapely.to_wkb(geometries)])
        order = np.argsort(group, kind="stable")
        offsets = np.r_[0, np.cumsum(np.bincount(group, minlength=len(places)))]
        return cls(geometries[order[offsets[:-1]]], offsets, order)

    def spread(self, groups: NDArray[np.int64], others: NDArray[np.int64]) -> Pairs:
        """Replace each group of a pair (group, other) by all its rows."""
        counts = self.offsets[groups + 1] - self.offsets[groups]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.rows[np.repeat(self.offsets[groups], counts) + within], np.repeat(
            others, counts
        )


def relation_pairs(
    publications: Geometries, areas: Geometries, predicates: Sequence[str]
) -> dict[str, Pairs]:
    """All pairs (publication row, area row) for which each predicate holds."""
    left, right = _Distinct.of(publications), _Distinct.of(areas)
    held = _distinct_relations(left.geometries, right.geometries, predicates)
    return {name: _expanded(left, right, pairs) for name, pairs in held.items()}


def mixed_pairs(publications: Geometries, areas: Geometries, predicates: Sequence[str]) -> Pairs:
    """All pairs for which the predicate of the area's own row holds."""
    own = np.array(predicates)
    found = []
    for name in np.unique(own).tolist():
        columns = np.flatnonzero(own == name)
        rows, within = relation_pairs(publications, areas[columns], [name])[name]
        found.append((rows, columns[within]))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def _distinct_relations(
    publications: Geometries, areas: Geometries, predicates: Sequence[str]
) -> dict[str, Pairs]:
    rows, columns = shapely.STRtree(areas).query(publications)
    meets = PREDICATES["intersects"](publications[rows], areas[columns])
    rows, columns = rows[meets], columns[meets]
    left, right = publications[rows], areas[columns]
    held: dict[str, Pairs] = {}
    for name in predicates:
        if name == "disjoint":
            apart = np.ones((len(publications), len(areas)), dtype=bool)
            apart[rows, columns] = False
            first, second = np.nonzero(apart)
            held[name] = (first, second)
        else:
            hit = PREDICATES[name](left, right)
            held[name] = (rows[hit], columns[hit])
    return held


def _expanded(left: _Distinct, right: _Distinct, pairs: Pairs) -> Pairs:
    rows, columns = left.spread(*pairs)
    columns, rows = right.spread(columns, rows)
    return rows, columns
