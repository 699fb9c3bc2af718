"""The oracle on large sides: candidates by bounding boxes, every distinct pair asked once.

Only pairs whose boxes do not meet are not asked, and a pair of equal geometries (bytes of WKB) is
asked once: for one predicate, or for the matrix of its relation if several are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from tests.oracle.exact import matrix_holds
from tests.oracle.spatial import PREDICATES, Geometries, Pairs

__all__ = ["mixed_pairs", "relation_pairs"]

Hits = NDArray[np.bool_]
_SEVERAL = 4


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
    asked = [name for name in predicates if name not in ("intersects", "disjoint")]
    hits = _hits(publications[rows], areas[columns], asked)
    held = {name: (rows[hit], columns[hit]) for name, hit in hits.items()}
    held["intersects"] = (rows, columns)
    if "disjoint" in predicates:
        apart = np.ones((len(publications), len(areas)), dtype=bool)
        apart[rows, columns] = False
        first, second = np.nonzero(apart)
        held["disjoint"] = (first, second)
    return {name: held[name] for name in predicates}


def _hits(left: Geometries, right: Geometries, predicates: Sequence[str]) -> dict[str, Hits]:
    """Tell for each predicate which of the pairs satisfy it."""
    if len(predicates) < _SEVERAL:
        return {name: PREDICATES[name](left, right) for name in predicates}
    matrices, of = np.unique(shapely.relate(left, right).astype("U9"), return_inverse=True)
    sizes = shapely.get_dimensions(left), shapely.get_dimensions(right)
    kinds, kind = np.unique(np.stack([of, *sizes]), axis=1, return_inverse=True)
    return {
        name: np.array(
            [matrix_holds(name, str(matrices[m]), (int(a), int(b))) for m, a, b in kinds.T],
            dtype=bool,
        )[kind]
        for name in predicates
    }


def _expanded(left: _Distinct, right: _Distinct, pairs: Pairs) -> Pairs:
    rows, columns = left.spread(*pairs)
    columns, rows = right.spread(columns, rows)
    return rows, columns
