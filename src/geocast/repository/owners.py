"""Whom subscription versions belong to, kept in memory: delivery asks for every match."""

from __future__ import annotations

from threading import Lock

import numpy as np
import numpy.typing as npt

from geocast.errors import StateError
from geocast.repository.changes import owners
from geocast.repository.database import Database
from geocast.repository.values import Owners

__all__ = ["OwnerCache"]


class OwnerCache:
    """Grows by what is new whenever a version is asked for that it does not have."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._known = Owners(*(np.empty(0, np.int64) for _ in range(4)))

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
        return Owners(
            vnumbers, known.account[place], known.subscription[place], known.endpoint[place]
        )

    def reach(self, newest: int) -> Owners:
        """Look for new versions if this one is not known yet; return all that are known."""
        with self._lock:
            have = int(self._known.vnumber[-1]) if len(self._known.vnumber) else 0
            if newest > have:
                with self._database.read() as connection:
                    self._known = _joined(self._known, owners(connection, have))
            return self._known


def _joined(first: Owners, second: Owners) -> Owners:
    return Owners(
        np.concatenate([first.vnumber, second.vnumber]),
        np.concatenate([first.account, second.account]),
        np.concatenate([first.subscription, second.subscription]),
        np.concatenate([first.endpoint, second.endpoint]),
    )
