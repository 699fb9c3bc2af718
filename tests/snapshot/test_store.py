from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import shapely

from geocast.errors import InputError, StateError
from geocast.snapshot import MergePlan, Part, SnapshotMatcher, SnapshotStore
from tests.snapshot.samples import Wanted, batch_of, boxes, found, subscription_table

NOBODY = subscription_table({})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SnapshotStore]:
    with SnapshotStore(tmp_path) as opened:
        yield opened


def grown(store: SnapshotStore, parts: int = 4) -> MergePlan:
    """Apply some changes of one subscription each, numbered from 1, and plan to join them."""
    for number in range(1, parts + 1):
        store.apply(subscription_table(boxes([number])), [], number)
    plan = store.plan_merge()
    assert plan is not None
    return plan


def test_there_is_no_version_at_first(store: SnapshotStore) -> None:
    assert store.latest() is None
    assert store.plan_merge() is None


def test_an_empty_change_moves_on(store: SnapshotStore) -> None:
    first = store.apply(NOBODY, [], 3)
    second = store.apply(NOBODY, [], 9)
    assert (first.version, first.through, first.count, first.bytes) == (1, 3, 0, 0)
    assert (second.version, second.through, second.parts) == (2, 9, ())
    assert store.latest() == second


def test_a_change_counts_what_came_and_went(store: SnapshotStore, tmp_path: Path) -> None:
    store.apply(subscription_table(boxes(range(10, 20))), [], 10)
    version = store.apply(subscription_table(boxes([40])), [12, 17, 12], 14)
    assert version.count == 9
    assert version.tombstones is not None
    removed = np.load(tmp_path / "tombstones" / version.tombstones)
    assert (removed.dtype, removed.tolist()) == (np.int64, [12, 17])


def test_removing_again_changes_nothing(store: SnapshotStore) -> None:
    store.apply(subscription_table(boxes([1, 2])), [], 2)
    once = store.apply(NOBODY, [1], 3)
    twice = store.apply(NOBODY, [1], 4)
    assert (twice.count, twice.tombstones, twice.bytes) == (1, once.tombstones, once.bytes)


@pytest.mark.parametrize("removed", [[2], [1, 99]])
def test_what_was_never_there_cannot_be_removed(store: SnapshotStore, removed: list[int]) -> None:
    before = store.apply(subscription_table(boxes([1, 3])), [], 1)
    with pytest.raises(StateError, match=f"never there: {removed[-1]}"):
        store.apply(NOBODY, removed, 2)
    assert store.latest() == before


def test_what_is_there_cannot_be_added(store: SnapshotStore) -> None:
    store.apply(subscription_table(boxes([1, 3])), [], 1)
    with pytest.raises(StateError, match="there already: 3"):
        store.apply(subscription_table(boxes([3, 4])), [], 2)


def test_changes_come_in_order(store: SnapshotStore) -> None:
    store.apply(NOBODY, [], 5)
    with pytest.raises(StateError, match="change 4 lies before the latest, 5"):
        store.apply(NOBODY, [], 4)


@pytest.mark.parametrize("name", ["one", "007", "-1", " 5", "0x1", "", None, "9" * 19])
def test_ids_are_version_numbers(store: SnapshotStore, name: str | None) -> None:
    table = subscription_table(boxes([1]))
    table = table.set_column(0, "id", pa.array([name], pa.string()))
    with pytest.raises(StateError, match="no version numbers"):
        store.apply(table, [], 1)


def test_subscriptions_that_cannot_be_used_are_named(store: SnapshotStore, tmp_path: Path) -> None:
    crossed = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
    wanted = {7: Wanted(crossed), 8: Wanted(None, None, "speed >"), 9: Wanted(shapely.Point(1, 1))}
    with pytest.raises(StateError, match=r"cannot be used: 7: .*; 8: filter refused"):
        store.apply(subscription_table(wanted), [], 1)
    assert store.latest() is None
    assert list((tmp_path / "parts").iterdir()) == []


def test_a_table_without_ids_is_refused(store: SnapshotStore) -> None:
    with pytest.raises(InputError, match="no column 'id'"):
        store.apply(NOBODY.drop_columns("id"), [], 1)


def test_a_small_change_writes_little_and_touches_nothing(
    store: SnapshotStore, tmp_path: Path
) -> None:
    base = store.apply(subscription_table(boxes(range(20_000))), [], 1)
    before = {path: path.stat() for path in tmp_path.rglob("*") if path.is_file()}
    version = store.apply(subscription_table(boxes([20_000])), [77], 2)
    after = {path: path.stat() for path in tmp_path.rglob("*") if path.is_file()}
    written = sum(stat.st_size for path, stat in after.items() if path not in before)
    assert written < base.bytes / 100
    assert version.bytes - base.bytes < base.bytes / 100
    assert all(after[path].st_mtime_ns == stat.st_mtime_ns for path, stat in before.items())


def test_a_second_writer_is_refused(store: SnapshotStore, tmp_path: Path) -> None:
    store.apply(NOBODY, [], 1)
    with SnapshotStore(tmp_path) as other:
        assert other.latest() == store.latest()
        for write in (
            lambda: other.apply(NOBODY, [], 2),
            lambda: other.remove_unneeded(set()),
        ):
            with pytest.raises(StateError, match="another process"):
                write()
        store.close()
        assert other.apply(NOBODY, [], 2).version == 2
    assert store.apply(NOBODY, [], 3).version == 3


def test_a_store_that_is_forgotten_lets_others_write(tmp_path: Path) -> None:
    SnapshotStore(tmp_path).apply(NOBODY, [], 1)
    with SnapshotStore(tmp_path) as other:
        assert other.apply(NOBODY, [], 2).version == 2


def test_merging_needs_no_lock_and_a_plan_can_be_sent(store: SnapshotStore, tmp_path: Path) -> None:
    plan = pickle.loads(pickle.dumps(grown(store)))
    part = SnapshotStore(tmp_path).merge(plan, [subscription_table(boxes(plan.vnumbers.tolist()))])
    version = store.install(plan, pickle.loads(pickle.dumps(part)))
    assert (version.version, version.through, version.count) == (5, 4, 4)
    assert version.parts == (part.name,)


def test_what_is_removed_or_added_meanwhile_stays_so(store: SnapshotStore, tmp_path: Path) -> None:
    wanted = {number: Wanted(shapely.box(0, 0, 4, 4)) for number in range(1, 7)}
    for number in range(1, 5):
        store.apply(subscription_table({number: wanted[number]}), [], number)
    plan = store.plan_merge()
    assert plan is not None
    part = store.merge(plan, [subscription_table({n: wanted[n] for n in (1, 2, 3, 4)})])
    store.apply(subscription_table({5: wanted[5]}), [2], 6)
    version = store.install(plan, part)
    assert (version.through, version.count, len(version.parts)) == (6, 4, 2)
    pairs = found(SnapshotMatcher.open(tmp_path, version.version), batch_of())
    assert {number for _, number in pairs} == {1, 3, 4, 5}


def test_tombstones_go_with_what_they_hide(store: SnapshotStore) -> None:
    store.apply(subscription_table(boxes(range(8))), [], 1)
    store.apply(NOBODY, [0, 1, 2], 2)
    plan = store.plan_merge()
    assert plan is not None
    assert plan.vnumbers.tolist() == [3, 4, 5, 6, 7]
    version = store.install(plan, store.merge(plan, [subscription_table(boxes(range(3, 8)))]))
    assert (version.tombstones, version.count) == (None, 5)
    assert store.plan_merge() is None


def test_nothing_is_left_of_a_part_that_was_removed_as_a_whole(store: SnapshotStore) -> None:
    store.apply(subscription_table(boxes([1])), [], 1)
    store.apply(NOBODY, [1], 2)
    plan = store.plan_merge()
    assert plan is not None
    version = store.install(plan, store.merge(plan, []))
    assert (version.parts, version.count, version.bytes) == ((), 0, 0)


def test_a_merge_takes_only_what_is_planned(store: SnapshotStore) -> None:
    plan = grown(store)
    with pytest.raises(StateError, match="does not name these subscriptions: 8"):
        store.merge(plan, [subscription_table(boxes([1, 8]))])


def test_a_merge_may_lack_only_what_was_removed_since(store: SnapshotStore) -> None:
    plan = grown(store)
    part = store.merge(plan, [subscription_table(boxes([1, 3, 4]))])
    with pytest.raises(StateError, match="lacks subscriptions that stand: 2"):
        store.install(plan, part)
    store.apply(NOBODY, [2], 9)
    assert store.install(plan, part).tombstones is None


def test_a_merge_is_installed_once(store: SnapshotStore) -> None:
    plan = grown(store)
    part = store.merge(plan, [subscription_table(boxes([1, 2, 3, 4]))])
    store.install(plan, part)
    with pytest.raises(StateError, match="no longer there"):
        store.install(plan, part)


def test_a_part_that_is_not_there_is_not_installed(store: SnapshotStore) -> None:
    plan = grown(store)
    with pytest.raises(StateError, match="4-x is not there"):
        store.install(plan, Part("4-x", 4, 100))


def test_unneeded_versions_go_with_their_files(store: SnapshotStore, tmp_path: Path) -> None:
    plan = grown(store)
    store.apply(NOBODY, [1], 5)
    store.install(plan, store.merge(plan, [subscription_table(boxes([2, 3, 4]))]))
    assert store.remove_unneeded({2, 5, 99}) == [1, 3, 4]
    assert len(list((tmp_path / "parts").iterdir())) == 5
    assert len(list((tmp_path / "tombstones").iterdir())) == 1
    assert store.remove_unneeded({2}) == [5]
    assert len(list((tmp_path / "parts").iterdir())) == 3
    assert store.remove_unneeded(set()) == [2]
    latest = store.latest()
    assert latest is not None
    assert [path.name for path in (tmp_path / "parts").iterdir()] == list(latest.parts)
    assert list((tmp_path / "tombstones").iterdir()) == []


def test_threads_may_share_a_store(store: SnapshotStore) -> None:
    def apply(first: int) -> None:
        for number in range(first, first + 5):
            store.apply(subscription_table(boxes([number])), [], 1)

    threads = [threading.Thread(target=apply, args=(10 * k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    latest = store.latest()
    assert latest is not None
    assert (latest.version, latest.count) == (15, 15)
