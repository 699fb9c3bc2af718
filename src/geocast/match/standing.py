"""All that stands: subscriptions as parts, ready to be searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocast.match.part import Part, build_part
from geocast.match.rest import RestCheck, build_rest
from geocast.match.rows import COMPLEMENT, EVERYWHERE, POSITIVE
from geocast.match.strings import Strings
from geocast.match.subscriptions import Subscriptions

__all__ = ["Standing", "build_standing"]


@dataclass(frozen=True)
class Standing:
    """Subscriptions, ready to be searched.

    Rows are numbered positive first, then complement, then everywhere, and among these by
    subscription, so that hits come nearly sorted; subscription[row] is the
    place of the row's subscription in `ids`, which are sorted. parts[0] finds positive rows,
    parts[1] the complement rows that do not match. `direct` says that every row is one
    subscription and leaves nothing to check, so that a hit is a match.
    """

    ids: Strings
    subscription: NDArray[np.int32]
    parts: tuple[Part, Part]
    rest: RestCheck
    direct: bool
    index: str

    @property
    def absent_rows(self) -> NDArray[np.int32]:
        """The rows that match where they are not hit: complement and everywhere.

        Place k is the k-th complement row as parts[1] labels it; everywhere rows follow.
        """
        return np.arange(len(self.parts[0].row), len(self.subscription), dtype=np.int32)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        parts = [part.arrays() for part in self.parts]
        groups = (*parts, self.rest.arrays(), self.ids.arrays())
        return sum(array.nbytes for group in groups for array in group.values())

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """What a hit on a row of each part emits.

        Where hits are matches, the subscription; else the row, so that the rest can be checked.
        Complement rows emit their place among the absent rows.
        """
        positive, complement = (part.row for part in self.parts)
        first = self.subscription[positive] if self.direct else positive
        return first, complement - np.int32(len(positive))


def build_standing(read: Subscriptions, index: str) -> Standing:
    """Build the parts from subscriptions that were read."""
    rows = read.rows
    order = np.lexsort((rows.subscription, rows.kind))
    kind = rows.kind[order]
    parts = []
    for wanted in (POSITIVE, COMPLEMENT):
        own = np.flatnonzero(kind == wanted)
        source = order[own]
        parts.append(
            build_part(
                read.geometries,
                rows.geometry[source],
                rows.predicate[source],
                own.astype(np.int32),
                index,
            )
        )
    rest = build_rest(rows, order, read.geometries)
    one_row_each = len(order) == len(np.unique(rows.subscription))
    only_positive = not np.isin(kind, (COMPLEMENT, EVERYWHERE)).any()
    return Standing(
        ids=Strings(read.ids),
        subscription=rows.subscription[order],
        parts=(parts[0], parts[1]),
        rest=rest,
        direct=bool(one_row_each and only_positive and not rest.needed.any()),
        index=index,
    )
