"""Subscriptions as standing rows.

A subscription is a disjunction of filters; each filter is one row: a spatial constraint that the
index answers for, and what is left to check on its hits. Three kinds of rows:

- positive: the predicate must hold (the index finds these);
- complement: the predicate must not hold; disjoint is the complement of intersects;
- everywhere: no spatial constraint at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geocast.language import AttributeConstraint, Filter, SpatialConstraint
from geocast.model import Predicate

__all__ = ["COMPLEMENT", "EVERYWHERE", "NO_GEOMETRY", "POSITIVE", "Rest", "RowBuilder", "Rows"]

POSITIVE: Final = 0
COMPLEMENT: Final = 1
EVERYWHERE: Final = 2
NO_GEOMETRY: Final = -1


@dataclass(frozen=True)
class Rows:
    """Rows as columns; `rest` numbers what is left to check in `rests` (0: nothing)."""

    subscription: NDArray[np.int32]
    geometry: NDArray[np.int32]
    predicate: NDArray[np.int8]
    kind: NDArray[np.int8]
    rest: NDArray[np.int32]
    rests: Sequence[Rest]


@dataclass(frozen=True)
class Rest:
    """What is left to check on a hit: attributes, and (geometry, predicate, negated) triples."""

    attributes: tuple[AttributeConstraint, ...] = ()
    spatial: tuple[tuple[int, Predicate, bool], ...] = ()


NOTHING_LEFT: Final = Rest()


@dataclass
class RowBuilder:
    """Collects rows, for many subscriptions at a time where they share a filter.

    Geometries are numbers: those of the subscriptions' own column come first, `own_geometries` in
    all; geometries met in filters are numbered on from there (`literals` in that order).
    """

    own_geometries: int
    _literals: dict[bytes, int] = field(default_factory=dict)
    _rests: dict[Rest, int] = field(default_factory=lambda: {NOTHING_LEFT: 0})
    _columns: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int, int]] = (
        field(default_factory=list)
    )

    @property
    def literals(self) -> list[bytes]:
        """The geometries that filters brought, as WKB."""
        return list(self._literals)

    def _geometry(self, wkb: bytes) -> int:
        return self._literals.setdefault(wkb, self.own_geometries + len(self._literals))

    def add_plain(
        self,
        subscriptions: NDArray[np.int64],
        geometries: NDArray[np.int64],
        predicates: NDArray[np.int64],
        filters: Iterable[Filter],
    ) -> None:
        """Add subscriptions that have a geometry and predicate of their own, and these filters."""
        for filter_ in filters:
            rest = self._rest(filter_.attributes, filter_.spatial)
            disjoint = predicates == Predicate.DISJOINT
            asked = np.where(disjoint, Predicate.INTERSECTS, predicates)
            for own, kind in ((~disjoint, POSITIVE), (disjoint, COMPLEMENT)):
                if own.any():
                    self._columns.append(
                        (subscriptions[own], geometries[own], asked[own], kind, rest)
                    )

    def add_filters(self, subscription: int, filters: Iterable[Filter]) -> None:
        """Add one subscription that consists of filters alone."""
        for filter_ in filters:
            chosen, others = self._choose(filter_.spatial)
            rest = self._rest(filter_.attributes, others)
            who = np.array([subscription], np.int64)
            if chosen is None:
                nowhere = np.array([NO_GEOMETRY], np.int64)
                self._columns.append((who, nowhere, nowhere * 0, EVERYWHERE, rest))
                continue
            disjoint = chosen.predicate is Predicate.DISJOINT
            asked = Predicate.INTERSECTS if disjoint else chosen.predicate
            kind = COMPLEMENT if disjoint or chosen.negated else POSITIVE
            where = np.array([self._geometry(chosen.geometry)], np.int64)
            self._columns.append((who, where, np.array([int(asked)]), kind, rest))

    def _choose(
        self, spatial: tuple[SpatialConstraint, ...]
    ) -> tuple[SpatialConstraint | None, tuple[SpatialConstraint, ...]]:
        """Choose the constraint for the index: a positive one of small extent if there is one."""
        if not spatial:
            return None, ()
        chosen = min(spatial, key=_cost)
        return chosen, tuple(c for c in spatial if c is not chosen)

    def _rest(
        self,
        attributes: tuple[AttributeConstraint, ...],
        spatial: tuple[SpatialConstraint, ...],
    ) -> int:
        triples = tuple((self._geometry(c.geometry), c.predicate, c.negated) for c in spatial)
        return self._rests.setdefault(Rest(attributes, triples), len(self._rests))

    def rows(self) -> Rows:
        """Return all rows added."""
        counts = [len(column[0]) for column in self._columns]

        def joined(k: int) -> NDArray[np.int64]:
            parts = [np.asarray(column[k]) for column in self._columns]
            return np.concatenate(parts) if parts else np.empty(0, np.int64)

        def repeated(k: int) -> NDArray[np.int64]:
            return np.repeat(np.array([column[k] for column in self._columns], np.int64), counts)

        return Rows(
            subscription=joined(0).astype(np.int32),
            geometry=joined(1).astype(np.int32),
            predicate=joined(2).astype(np.int8),
            kind=repeated(3).astype(np.int8),
            rest=repeated(4).astype(np.int32),
            rests=list(self._rests),
        )


def _cost(constraint: SpatialConstraint) -> tuple[bool, float]:
    """What excludes places finds much; among what asks for a place, the small one finds little."""
    excludes = constraint.negated or constraint.predicate is Predicate.DISJOINT
    west, south, east, north = shapely.bounds(shapely.from_wkb(constraint.geometry))
    return excludes, float((east - west) * (north - south))
