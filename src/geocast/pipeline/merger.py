"""Joins parts of a snapshot in another process, so that nothing else has to wait for it."""

from __future__ import annotations

import logging
import os
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from typing import Final

from geocast.operate import Place, die_with_parent
from geocast.repository import Repository
from geocast.snapshot import MergePlan, Part, SnapshotStore

__all__ = ["Merger"]

_log = logging.getLogger(__name__)
_NICE: Final = 10
"""How much a merge gives way to everything else."""


class Merger:
    """At most one merge at a time. One that fails is logged, and may be started again."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._pool: ProcessPoolExecutor | None = None
        self._running: tuple[MergePlan, Future[Part]] | None = None

    @property
    def busy(self) -> bool:
        """Whether a merge is under way, or has ended and was not taken yet."""
        return self._running is not None

    def start(self, plan: MergePlan) -> None:
        """Begin a merge."""
        if self._pool is None:
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(
                1, mp_context=context, initializer=_give_way, initargs=(os.getpid(),)
            )
        self._running = plan, self._pool.submit(_merge, self._place, plan)

    def take(self) -> tuple[MergePlan, Part] | None:
        """Return what has been merged; None while nothing has, and after a failure."""
        if self._running is None or not self._running[1].done():
            return None
        plan, future = self._running
        self._running = None
        error = future.exception()
        if error is None:
            return plan, future.result()
        _log.error("parts could not be joined", exc_info=error)
        self.close()
        return None

    def close(self) -> None:
        """Give up what is under way."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        self._running = None


def _give_way(parent: int) -> None:
    die_with_parent(parent)
    os.nice(_NICE)


def _merge(place: Place, plan: MergePlan) -> Part:
    with closing(Repository.open(place.repository)) as repository:
        tables = repository.subscriptions.standing(plan.through, plan.vnumbers.tolist())
        return SnapshotStore(place.snapshots).merge(plan, tables)
