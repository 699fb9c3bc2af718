"""Whom subscription versions belong to, kept in memory: delivery asks for every match."""

from __future__ import annotations

from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from geocast.errors import StateError
from geocast.repository.changes import owners
from geocast.repository.database import Database
from geocast.repository.values import Owners

__all__ = ["OwnerCache"]

_FIRST_CAPACITY: Final = 1_024


class OwnerCache:
    """Grows by what is new whenever a version is asked for that it does not have."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._rows = np.empty((5, _FIRST_CAPACITY), np.int64)
        self._known = Owners(*self._rows[:, :0])

    def of(self, vnumbers: npt.NDArray[np.int64]) -> Owners:
        """Return the owners of these versions, in their order.

        Raises StateError if there is no such version.
        """
        known = self.reach(int(vnumbers.max(initial=0)))
        if not len(known.vnumber):
            place = np.zeros(len(vnumbers), np.int64)
            unknown = np.ones(len(vnumbers), bool)
        else:
            place = np.searchsorted(known.vnumber, vnumbers).clip(max=len(known.vnumber) - 1)
            unknown = known.vnumber[place] != vnumbers
        if unknown.any():
            raise StateError(f"there is no subscription version {vnumbers[unknown][0]}")
        return known.those(place)

    def reach(self, newest: int) -> Owners:
        """Look for new versions if this one is not known yet; return all that are known."""
        with self._lock:
            have = int(self._known.vnumber[-1]) if len(self._known.vnumber) else 0
            if newest > have:
                with self._database.read() as connection:
                    found = owners(connection, have)
                self._append(found)
            return self._known

    def _append(self, found: Owners) -> None:
        """Add owners behind the others; what was returned before stays as it is."""
        count = len(self._known.vnumber)
        total = count + len(found.vnumber)
        if total > self._rows.shape[1]:
            larger = np.empty((5, max(total, 2 * self._rows.shape[1])), np.int64)
            larger[:, :count] = self._rows[:, :count]
            self._rows = larger
        columns = (found.vnumber, found.account, found.subscription, found.endpoint, found.bundled)
        for row, column in zip(self._rows, columns, strict=True):
            row[count:total] = column
        self._known = Owners(*self._rows[:, :total])
