"""The store of snapshots: changes in, immutable versions out."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

from geocast.errors import StateError
from geocast.match.divided import Divided
from geocast.match.partition.adapt import Load, adapted
from geocast.match.partition.division import Divider
from geocast.snapshot.files import WriterLock, size_of
from geocast.snapshot.layout import MANIFEST, NOTHING, VNUMBERS, Layout, Version
from geocast.snapshot.numbers import Numbers, in_sorted, map_numbers, numbers_of, some, write
from geocast.snapshot.part import SMALL, Part, join_tables, label_of, write_part
from geocast.snapshot.plan import MergePlan, choose_parts
from geocast.snapshot.unneeded import remove_unneeded

__all__ = ["SnapshotStore"]


class SnapshotStore:
    """Versions of all subscriptions in a directory.

    A version is written last, in one step: whenever a process dies, the directory holds the
    versions that were complete, and files that nobody names, which `remove_unneeded` clears.
    The first call that writes (`become_writer`, `apply`, `install`, `remove_unneeded`) makes this
    the writer of the directory until `close`; a second writer is refused by a StateError. `latest`,
    `plan_merge` and `merge` may be called from any process. Threads may share a store.
    """

    def __init__(self, directory: Path, divider: Divider | None = None) -> None:
        """Take the versions of a directory; from now on, large parts are divided so."""
        self._divider = divider
        self._layout = Layout(Path(directory))
        self._layout.make()
        self._lock = WriterLock(self._layout.directory / "lock")
        self._one_at_a_time = threading.Lock()

    def become_writer(self) -> None:
        """Keep others from writing, from now on; raises StateError where another does."""
        with self._writing():
            pass

    def close(self) -> None:
        """Let others write."""
        with self._one_at_a_time:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def latest(self) -> Version | None:
        """Return the newest version, None where there is none yet."""
        return self._layout.latest()

    def apply(self, added: pa.Table, removed: Sequence[int], through: int) -> Version:
        """Write the version that follows from the latest one by a change, and return it.

        `added` has the columns of a table of subscriptions, with version numbers as ids; `removed`
        are version numbers. The cost is in proportion to the change. Raises StateError, and
        changes nothing, where an added one cannot be used or is there already, where a removed
        one was never there, and where `through` lies before the latest version's.
        """
        with self._writing() as last:
            if through < last.through:
                raise StateError(f"change {through} lies before the latest, {last.through}")
            gone = np.unique(np.asarray(removed, np.int64))
            self._check_known(last, numbers_of(added), gone)
            part = write_part(self._layout.parts, added, self._divider)
            before = self._layout.removed(last)
            fresh = gone[~in_sorted(before, gone)]
            after = np.insert(before, np.searchsorted(before, fresh), fresh)
            following = replace(
                last,
                through=through,
                parts=last.parts + ((part.name,) if part.count else ()),
                count=last.count + part.count - len(fresh),
                bytes=last.bytes + part.bytes,
            )
            return self._publish(following, before, after)

    def plan_merge(self) -> MergePlan | None:
        """Return which parts of the latest version should be joined, None if none should."""
        version = self.latest()
        if version is None:
            return None
        removed = self._layout.removed(version)
        held = {name: self._numbers(name) for name in version.parts}
        gone = {name: removed[in_sorted(own, removed)] for name, own in held.items()}
        foreign = [name for name in held if self._is_foreign(name, len(held[name]))]
        sizes = {name: (len(held[name]), len(gone[name])) for name in held}
        chosen = tuple(foreign) or choose_parts(sizes)
        if not chosen:
            return None
        standing = np.sort(
            np.concatenate([held[name][~in_sorted(gone[name], held[name])] for name in chosen])
        )
        return MergePlan(version.version, version.through, chosen, standing, self._divider)

    def plan_adapted(self, part: str, loads: Mapping[int, Load]) -> MergePlan | None:
        """Return how to make a part anew, its partitions after their loads.

        None if the part is gone, or if its partitions are as they should be.
        """
        version, divider = self.latest(), self._divider
        if version is None or divider is None or part not in version.parts:
            return None
        before = Divided.open(self._layout.parts / part).division.partitioning
        if before is None:
            return None
        cells = adapted(before, loads, divider.cells)
        if np.array_equal(cells.cells, before.cells):
            return None
        own = self._numbers(part)
        standing = own[~in_sorted(self._layout.removed(version), own)]
        after = replace(divider, partitioning=cells)
        return MergePlan(version.version, version.through, (part,), standing, after)

    def merge(self, plan: MergePlan, tables: Iterable[pa.Table]) -> Part:
        """Write the part that takes the place of the planned ones; slow.

        `tables` hold the subscriptions that `plan.vnumbers` names; those removed since the plan
        was made may be left out. The part counts from `install` on, which has to follow within
        an hour.
        """
        table = join_tables(tables)
        numbers = numbers_of(table)
        foreign = numbers[~in_sorted(plan.vnumbers, numbers)]
        if len(foreign):
            raise StateError(f"the plan does not name these subscriptions: {some(foreign)}")
        return write_part(self._layout.parts, table, plan.divider)

    def install(self, plan: MergePlan, part: Part) -> Version:
        """Write the version that has the part instead of the planned ones, and return it.

        It holds the same subscriptions as the latest version, whatever was applied since the
        plan was made. Raises StateError, and changes nothing, where the planned parts are no
        longer there or the part lacks a subscription that stands.
        """
        with self._writing() as last:
            self._check_replaceable(last, plan, part)
            before = self._layout.removed(last)
            own = self._numbers(part.name) if part.count else np.empty(0, np.int64)
            lacking = plan.vnumbers[~in_sorted(own, plan.vnumbers)]
            lost = lacking[~in_sorted(before, lacking)]
            if len(lost):
                raise StateError(f"the joined part lacks subscriptions that stand: {some(lost)}")
            kept = tuple(name for name in last.parts if name not in plan.parts)
            parts = kept + ((part.name,) if part.count else ())
            freed = sum(size_of(self._layout.parts / name) for name in plan.parts)
            following = replace(last, parts=parts, bytes=last.bytes - freed + part.bytes)
            return self._publish(following, before, self._still_held(before, parts))

    def remove_unneeded(self, needed: set[int]) -> list[int]:
        """Delete the versions that are neither needed nor the latest, and return their numbers.

        Files that no version names go with them, but not what may be a part that `merge` has
        just made. Who has opened a version can go on using it.
        """
        with self._writing():
            return remove_unneeded(self._layout, needed)

    @contextmanager
    def _writing(self) -> Iterator[Version]:
        """Be the only one who writes; gives the latest version, or one without anything."""
        with self._one_at_a_time:
            fresh = not self._lock.held
            if fresh:
                self._lock.acquire()
            last = self._layout.latest() or NOTHING
            if fresh:
                self._layout.check(last)
            yield last

    def _is_foreign(self, name: str, held: int) -> bool:
        """Tell whether a part is divided in another way than it should be."""
        wanted = None if self._divider is None or held <= SMALL else self._divider.label
        return label_of(name) != wanted

    def _numbers(self, part: str) -> Numbers:
        return map_numbers(self._layout.parts / part / VNUMBERS)

    def _check_known(self, last: Version, added: Numbers, removed: Numbers) -> None:
        """Raise StateError unless all that is removed is there, and nothing that is added."""
        unknown = np.ones(len(removed), np.bool_)
        repeated = np.zeros(len(added), np.bool_)
        for name in last.parts:
            own = self._numbers(name)
            unknown &= ~in_sorted(own, removed)
            repeated |= in_sorted(own, added)
        if unknown.any():
            raise StateError(f"removed subscriptions were never there: {some(removed[unknown])}")
        if repeated.any():
            raise StateError(f"added subscriptions are there already: {some(added[repeated])}")

    def _check_replaceable(self, last: Version, plan: MergePlan, part: Part) -> None:
        """Raise StateError unless the planned parts are there, and the new one, too."""
        absent = sorted(set(plan.parts) - set(last.parts))
        if absent:
            raise StateError(f"parts of the plan are no longer there: {', '.join(absent)}")
        if part.count and not (self._layout.parts / part.name / MANIFEST).is_file():
            raise StateError(f"the joined part {part.name} is not there, or not complete")

    def _still_held(self, removed: Numbers, parts: Iterable[str]) -> Numbers:
        """Return those of the removed that are in one of the parts."""
        held = np.zeros(len(removed), np.bool_)
        for name in parts:
            held |= in_sorted(self._numbers(name), removed)
        return removed[held]

    def _publish(self, following: Version, before: Numbers, after: Numbers) -> Version:
        """Write the next version, with its tombstones where they differ from those before."""
        number = following.version + 1
        if len(before) == len(after):
            return self._layout.publish(replace(following, version=number))
        size = following.bytes
        if following.tombstones is not None:
            size -= size_of(self._layout.tombstones / following.tombstones)
        name = f"{number}.npy" if len(after) else None
        if name is not None:
            write(self._layout.tombstones / name, after)
            size += size_of(self._layout.tombstones / name)
        return self._layout.publish(replace(following, version=number, bytes=size, tombstones=name))
