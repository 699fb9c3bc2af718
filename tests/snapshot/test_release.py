from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from geocast.snapshot import SnapshotMatcher, SnapshotStore
from geocast.snapshot.release import release_with
from tests.snapshot.samples import batch_of, everywhere, found, subscription_table


class Owner:
    pass


class Mapped:
    """Tells which thread let go of it."""

    def __init__(self, gone: list[int]) -> None:
        self._gone = gone

    def __del__(self) -> None:
        self._gone.append(threading.get_ident())


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_another_thread_lets_go_once_the_owner_is_gone() -> None:
    gone: list[int] = []
    owner = Owner()
    release_with(owner, [Mapped(gone)])
    time.sleep(0.05)
    assert gone == []
    del owner
    wait_for(lambda: bool(gone))
    assert gone != [threading.get_ident()]


def test_a_removed_version_is_mapped_until_it_is_let_go(tmp_path: Path) -> None:
    with SnapshotStore(tmp_path) as store:
        for number in (1, 2, 3, 4):
            store.apply(subscription_table(everywhere([number])), [], number)
        old = SnapshotMatcher.open(tmp_path, 4)
        plan = store.plan_merge()
        assert plan is not None
        table = subscription_table(everywhere([1, 2, 3, 4]))
        last = store.install(plan, store.merge(plan, [table]))
        store.remove_unneeded(set())
    for _ in range(2):
        matcher = SnapshotMatcher.open(tmp_path, last.version)
    assert found(old, batch_of()) == found(matcher, batch_of())
    assert _deleted(tmp_path)
    del old
    wait_for(lambda: not _deleted(tmp_path))


def _deleted(directory: Path) -> list[str]:
    """The files in a directory that are deleted but still mapped by this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line for line in lines if str(directory) in line and line.endswith("(deleted)")]
