"""Keeps the snapshot of all subscriptions up to date, beside the running stream.

Changes become a new version within a fraction of a second, at a cost in proportion to the change;
small parts are joined by another process meanwhile; versions that no batch needs are removed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from geocast.errors import StateError
from geocast.match.partition.adapt import Load
from geocast.match.partition.division import Divider
from geocast.model import now
from geocast.operate import Place, metrics
from geocast.pipeline.merger import Merger
from geocast.repository import Repository
from geocast.snapshot import SnapshotStore, Version

__all__ = ["SnapshotKeeper"]

_log = logging.getLogger(__name__)
_POLL_SECONDS: Final = 0.05
_TIDY_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 1.0
_CHANGES_AT_ONCE: Final = 5_000
_FIRST_AT_ONCE: Final = 1_000_000
_REST_AFTER_ADAPTING: Final = 9.0


class SnapshotKeeper:
    """Turns changes of subscriptions into snapshot versions, in a thread of its own.

    There can be one for a directory: a second one raises StateError. `pin` gives the version that
    a batch has to use. It may be called from any thread. Large parts are divided by `divider`, and
    made anew in the background where they are not.
    """

    def __init__(
        self, repository: Repository, place: Place, query: str, divider: Divider | None = None
    ) -> None:
        self._repository = repository
        self._place = place
        self._query = query
        self._store = SnapshotStore(place.snapshots, divider)
        self._merger = Merger(place)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="snapshot-keeper", daemon=True)
        self._held: list[int] = []
        self._planned = 0
        self._loads: dict[str, Mapping[int, Load]] = {}
        self._adapting_since: float | None = None
        self._adapt_after = 0.0
        self._tidied = 0.0
        self._recorded = 0
        self._store.become_writer()
        self._current = self._recover()

    def start(self) -> None:
        """Begin to follow the repository."""
        self._thread.start()

    def close(self) -> None:
        """Stop following; a merge that is under way is given up."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._merger.close()
        self._store.close()

    def pin(self, batch: int) -> int:
        """Return the version that the batch uses: the newest, or the same as before if replayed."""
        with self._lock:
            return self._repository.ledger.pin(self._query, batch, self._current.version)

    @contextmanager
    def held(self) -> Iterator[int]:
        """Give the newest version, which is not removed for the length of the block."""
        with self._lock:
            version = self._current.version
            self._held.append(version)
        try:
            yield version
        finally:
            with self._lock:
                self._held.remove(version)

    def adapt(self, part: str, loads: Mapping[int, Load]) -> None:
        """Have the partitions of a part follow their loads, as soon as there is time for it."""
        with self._lock:
            self._loads[part] = loads

    def _recover(self) -> Version:
        """Make store and repository agree, wherever the last process stopped."""
        known, self._recorded = self._repository.subscriptions.snapshot_at()
        latest = self._store.latest()
        if latest is not None:
            self._check_ahead(latest)
        else:
            if known:
                raise StateError(
                    f"{self._place.snapshots} is empty, but the repository knows snapshot "
                    f"{known}: restore the directory, or start with a fresh data directory"
                )
            changes = self._repository.subscriptions.changes(0, _FIRST_AT_ONCE)
            latest = self._store.apply(changes.table, changes.removed, changes.through)
        self._record(latest)
        return latest

    def _check_ahead(self, latest: Version) -> None:
        """Raise StateError where the repository lacks changes that the snapshot has."""
        try:
            self._repository.subscriptions.changes(latest.through, 1)
        except StateError as error:
            raise StateError(
                f"repository and {self._place.snapshots} do not belong together: {error}; "
                "was one of them restored without the other?"
            ) from error

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._record(self._current)
                if not self._follow():
                    self._merge()
                    self._tidy()
                    self._stop.wait(_POLL_SECONDS)
            except Exception:
                _log.exception("the snapshot could not be brought up to date; trying again")
                # What failed may have written a version before it did.
                self._current = self._store.latest() or self._current
                self._stop.wait(_RETRY_SECONDS)

    def _follow(self) -> bool:
        """Make a version of what has changed; tells whether there was anything."""
        after = self._current.through
        changes = self._repository.subscriptions.changes(after, _CHANGES_AT_ONCE)
        if not changes.count:
            return False
        # Batches use it before anyone is told that it is active: never the other way round.
        self._current = self._store.apply(changes.table, changes.removed, changes.through)
        self._record(self._current)
        return True

    def _record(self, version: Version) -> None:
        """Tell the repository which changes are in force, unless it knows."""
        if version.through > self._recorded:
            self._repository.subscriptions.activate(
                version.version, self._recorded, version.through, now()
            )
            self._recorded = version.through
            metrics().snapshot_version.set(version.version)
            metrics().snapshot_subscriptions.set(version.count)
            metrics().snapshot_bytes.set(version.bytes)

    def _merge(self) -> None:
        """Join small parts, in the background."""
        merged = self._merger.take()
        if merged is not None:
            self._current = self._store.install(*merged)
        elif self._merger.busy:
            return
        elif self._planned != self._current.version:
            self._planned = self._current.version
            plan = self._store.plan_merge()
            if plan is not None:
                self._merger.start(plan)
        else:
            self._adapt()

    def _adapt(self) -> None:
        """Make a part anew whose partitions have uneven loads, in the background.

        That takes at most a tenth of the time, however uneven they remain.
        """
        if self._adapting_since is not None:
            took = time.monotonic() - self._adapting_since
            self._adapting_since = None
            self._adapt_after = time.monotonic() + _REST_AFTER_ADAPTING * took
        with self._lock:
            if not self._loads or time.monotonic() < self._adapt_after:
                return
            part, loads = self._loads.popitem()
        plan = self._store.plan_adapted(part, loads)
        if plan is not None:
            _log.info("partitions follow their loads", extra={"part": plan.parts[0]})
            self._adapting_since = time.monotonic()
            self._merger.start(plan)

    def _tidy(self) -> None:
        """Remove what nobody needs, while no batch is being pinned."""
        if time.monotonic() - self._tidied > _TIDY_SECONDS:
            self._tidied = time.monotonic()
            with self._lock:
                needed = self._repository.ledger.needed(self._query)
                self._store.remove_unneeded(needed | {*self._held, self._current.version})
