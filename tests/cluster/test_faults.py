"""The ways to break a cluster, on what is none: processes that sleep, and empty folders."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from geocast.bench.cluster import faults as module
from geocast.bench.cluster.disks import Disks
from geocast.bench.cluster.faults import Faults
from geocast.bench.cluster.parts import ALL, Parts, is_alive

NOWHERE = "127.0.0.1:1"


@pytest.fixture
def sleepers(tmp_path: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Three parts of a cluster, each a shell with a child."""
    started = {}
    for name in ("broker-2", "deliver-1", "deliver-2"):
        started[name] = subprocess.Popen(["bash", "-c", "sleep 60 & wait"], start_new_session=True)
        (tmp_path / f"{name}.pid").write_text(f"{started[name].pid}\n")
    yield started
    for process in started.values():
        process.kill()
        process.wait()


def test_parts_are_found_by_kind_and_missed_when_they_end(
    tmp_path: Path, sleepers: dict[str, subprocess.Popen[bytes]]
) -> None:
    parts = Parts(tmp_path)
    assert {one.pid for one in parts.of("deliver")} == {
        sleepers["deliver-1"].pid,
        sleepers["deliver-2"].pid,
    }
    assert [one.pid for one in parts.of("broker")] == [sleepers["broker-2"].pid]
    assert parts.of("gateway") == []
    assert set(ALL) - set(parts.ended()) == set(sleepers)
    sleepers["deliver-1"].kill()
    sleepers["deliver-1"].wait()
    assert set(ALL) - set(parts.ended()) == {"broker-2", "deliver-2"}


def test_nothing_of_what_was_started_outlives_the_end(
    tmp_path: Path, sleepers: dict[str, subprocess.Popen[bytes]]
) -> None:
    parts = Parts(tmp_path)
    found = [psutil.Process(one.pid) for one in sleepers.values()]
    while len(children := [each for one in found for each in one.children()]) < len(found):
        pass
    (tmp_path / "deliver-1.pid").rename(tmp_path / "starting.pid")
    parts.kill()
    assert not any(map(is_alive, [*found, *children]))


def test_a_pause_lasts_until_it_is_ended(
    tmp_path: Path, sleepers: dict[str, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LASTING_SECONDS", 0.1)
    faults = Faults(tmp_path)
    assert not faults.inflict("paused gateway", random.Random(1), NOWHERE)
    assert faults.inflict("paused broker", random.Random(1), NOWHERE)
    broker = psutil.Process(sleepers["broker-2"].pid)
    assert broker.status() == psutil.STATUS_STOPPED
    faults.end()
    assert broker.status() != psutil.STATUS_STOPPED


def test_one_of_a_kind_is_killed(
    tmp_path: Path, sleepers: dict[str, subprocess.Popen[bytes]]
) -> None:
    faults = Faults(tmp_path)
    assert faults.inflict("deliver", random.Random(1), NOWHERE)
    ended = [name for name, one in sleepers.items() if one.poll() is not None or _dies(one)]
    assert len(ended) == 1
    assert ended[0].startswith("deliver-")


def _dies(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        return False
    return True


def test_what_this_process_may_not_do_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mount").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "mount").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    faults = Faults(tmp_path / "cluster")
    faults.prepare()
    assert {"broker", "leader", "postgres", "paused deliver"} <= set(faults.weights)
    assert not any("disk" in one or "cut off" in one for one in faults.weights)


def test_a_full_disk_takes_nothing_until_it_is_emptied(tmp_path: Path) -> None:
    """Where this process may mount no disk there is none, and nothing to fill."""
    disks = Disks(tmp_path)
    disks.mount()
    try:
        for fault in disks.faults:
            disk = disks._mounted[fault]
            disks.fill(fault)
            with pytest.raises(OSError, match="No space left"):
                (disk / "more").write_bytes(bytes(1 << 16))
            disks.empty()
            assert (disk / "more").write_bytes(bytes(1 << 16)) == 1 << 16
    finally:
        disks.unmount()
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
