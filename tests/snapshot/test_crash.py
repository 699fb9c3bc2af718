"""Whatever a crash leaves behind, the versions that were complete stay, and writing goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geocast.errors import StateError
from geocast.snapshot import SnapshotMatcher, SnapshotStore
from tests.snapshot.samples import batch_of, boxes, found, subscription_table

NOBODY = subscription_table({})

WRITER = """
import sys
from pathlib import Path
from geocast.snapshot import SnapshotStore
from tests.snapshot.samples import everywhere, subscription_table

with SnapshotStore(Path(sys.argv[1])) as store:
    latest = store.latest()
    number = latest.through if latest else 0
    while True:
        number += 1
        removed = [number - 3] if number > 3 else []
        store.apply(subscription_table(everywhere([number])), removed, number)
        plan = store.plan_merge()
        if plan is not None:
            wanted = everywhere(plan.vnumbers.tolist())
            store.install(plan, store.merge(plan, [subscription_table(wanted)]))
        store.remove_unneeded(set())
        print(number, flush=True)
"""


def started(directory: Path) -> None:
    with SnapshotStore(directory) as store:
        store.apply(subscription_table(boxes([1, 2, 3])), [], 1)
        store.apply(NOBODY, [2], 2)


def make_old(path: Path) -> None:
    past = time.time() - 2 * 3600
    os.utime(path, (past, past))


@pytest.mark.parametrize(
    "step",
    ["store.write_part", "store.write", "layout.Layout.publish", "layout.write_durably"],
)
def test_a_change_that_fails_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    started(tmp_path)

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    with SnapshotStore(tmp_path) as store:
        before = store.latest()
        with monkeypatch.context() as patch:
            patch.setattr(f"geocast.snapshot.{step}", fail)
            with pytest.raises(OSError, match="no space"):
                store.apply(subscription_table(boxes([4])), [1], 3)
        assert store.latest() == before
        after = store.apply(subscription_table(boxes([4])), [1], 3)
    assert (after.version, after.count) == (3, 2)


def test_a_part_that_cannot_be_written_is_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("geocast.snapshot.part.sync_tree", fail)
    with SnapshotStore(tmp_path) as store, pytest.raises(OSError, match="no space"):
        store.apply(subscription_table(boxes([4])), [], 3)
    assert list((tmp_path / "parts").iterdir()) == []


def test_leftovers_are_cleared_but_not_what_is_being_built(tmp_path: Path) -> None:
    started(tmp_path)
    half, young = tmp_path / "parts" / "5-half", tmp_path / "parts" / "6-young"
    for path in (half, young):
        path.mkdir()
        (path / "vnumbers.npy").write_bytes(b"\x93NUMPY")
    make_old(half)
    (tmp_path / "tombstones" / "77.npy").write_bytes(b"")
    (tmp_path / "tombstones" / "3.npy.tmp").write_bytes(b"")
    (tmp_path / "versions" / "3.json.tmp").write_text('{"version": 3, "thr')
    with SnapshotStore(tmp_path) as store:
        latest = store.latest()
        assert latest is not None
        assert latest.version == 2
        store.remove_unneeded({1})
    assert young.is_dir()
    assert not half.exists()
    assert [path.name for path in (tmp_path / "tombstones").iterdir()] == [latest.tombstones]
    assert sorted(path.name for path in (tmp_path / "versions").iterdir()) == ["1.json", "2.json"]


def test_a_joined_part_waits_for_its_installation(tmp_path: Path) -> None:
    started(tmp_path)
    with SnapshotStore(tmp_path) as store:
        plan = store.plan_merge()
        assert plan is not None
        part = store.merge(plan, [subscription_table(boxes([1, 3]))])
        store.remove_unneeded(set())
        assert store.install(plan, part).parts == (part.name,)
        make_old(tmp_path / "parts" / part.name)
        store.remove_unneeded(set())
        assert [path.name for path in (tmp_path / "parts").iterdir()] == [part.name]


@pytest.mark.parametrize("content", ['{"version": 2, "thr', "", "[]", '{"version": 2}', "null"])
def test_a_damaged_version_is_told(tmp_path: Path, content: str) -> None:
    started(tmp_path)
    (tmp_path / "versions" / "2.json").write_text(content)
    with SnapshotStore(tmp_path) as store:
        for use in (
            store.latest,
            store.plan_merge,
            lambda: store.apply(NOBODY, [], 5),
            lambda: store.remove_unneeded(set()),
            lambda: SnapshotMatcher.open(tmp_path, 2),
        ):
            with pytest.raises(StateError, match=r"versions/2\.json is damaged"):
                use()


def test_a_version_under_another_name_is_damaged(tmp_path: Path) -> None:
    started(tmp_path)
    (tmp_path / "versions" / "2.json").rename(tmp_path / "versions" / "4.json")
    with pytest.raises(StateError, match="calls itself version 2"):
        SnapshotMatcher.open(tmp_path, 4)


@pytest.mark.parametrize("lost", ["parts/*/manifest.json", "parts/*/vnumbers.npy", "tombstones/*"])
def test_what_a_version_names_must_be_there(tmp_path: Path, lost: str) -> None:
    started(tmp_path)
    for path in tmp_path.glob(lost):
        path.unlink()
    with pytest.raises(StateError, match="version 2 is not complete, missing: "):
        SnapshotMatcher.open(tmp_path, 2)
    with (
        SnapshotStore(tmp_path) as store,
        pytest.raises(StateError, match="version 2 is not complete"),
    ):
        store.apply(NOBODY, [], 5)


@pytest.mark.parametrize("hurt", ["parts/*/arrays.bin", "parts/*/manifest.json", "tombstones/*"])
def test_a_damaged_file_is_named(tmp_path: Path, hurt: str) -> None:
    started(tmp_path)
    for path in tmp_path.glob(hurt):
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(StateError, match="cannot be"):
        SnapshotMatcher.open(tmp_path, 2)


def test_a_writer_killed_at_any_time_leaves_a_good_directory(tmp_path: Path) -> None:
    told = 0
    for seconds in (0.31, 0.17, 0.43):
        told = max(told, _run_and_kill(tmp_path, seconds))
        with SnapshotStore(tmp_path) as store:
            latest = store.latest()
            assert latest is not None
            assert latest.through in (told, told + 1)
            number = latest.through
            matcher = SnapshotMatcher.open(tmp_path, latest.version)
            standing = range(max(1, number - 2), number + 1)
            assert {n for _, n in found(matcher, batch_of())} == set(standing)
            store.remove_unneeded(set())


def _run_and_kill(directory: Path, seconds: float) -> int:
    """Let a writer work for some time after its first change; return the last that it told."""
    command = [sys.executable, "-c", WRITER, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        lines = [first, *writer.stdout]
    return int([line for line in lines if line.endswith("\n")][-1])
