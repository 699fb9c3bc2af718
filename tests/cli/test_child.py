"""A process that is kept running, and its journal."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from geocast.cli.service import child as module
from geocast.cli.service.child import Child
from geocast.errors import GeocastError

TALKS = "import time\nfor n in range(10**9): print(f'line {n}', flush=True); time.sleep(0.001)"


def until(done: object) -> None:
    assert callable(done)
    deadline = time.monotonic() + 240
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_long_journal_is_moved_and_the_process_writes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_JOURNAL_BYTES", 1_000)
    child = Child("talker", [sys.executable, "-c", TALKS], tmp_path)
    journal, before = tmp_path / "talker.log", tmp_path / "talker.log.1"
    child.start()
    try:
        child.trim_journal()
        assert not before.exists()
        until(lambda: journal.stat().st_size > 1_000)
        child.trim_journal()
        assert before.read_text().startswith("line 0\n")
        until(lambda: journal.stat().st_size > 100)
        assert "\0" not in journal.read_text()
        child.check()
    finally:
        child.stop()


def test_one_that_dies_is_started_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    child = Child("mortal", [sys.executable, "-c", "print('last words'); exit(3)"], tmp_path)
    child.start()
    journal = tmp_path / "mortal.log"

    def twice() -> bool:
        child.revive()
        return journal.read_text().count("last words") >= 2

    until(twice)
    child.stop()
    assert "the process mortal ended (status 3); starting it again: last words" in (
        capsys.readouterr().err
    )


def test_one_that_ends_by_itself_while_it_starts_cannot_start(tmp_path: Path) -> None:
    child = Child("mortal", [sys.executable, "-c", "print('last words'); exit(3)"], tmp_path)
    child.start()

    def ends() -> bool:
        child.check()
        return False

    with pytest.raises(GeocastError, match=r"mortal ended \(status 3\): last words"):
        until(ends)


def test_one_that_is_killed_while_it_starts_is_started_again(tmp_path: Path) -> None:
    says = "import os, time\nprint(os.getpid(), flush=True); time.sleep(600)"
    child = Child("mortal", [sys.executable, "-c", says], tmp_path)
    child.start()
    journal = tmp_path / "mortal.log"

    def starts(count: int) -> bool:
        child.check()
        return journal.read_text().count("\n") == count

    try:
        until(lambda: starts(1))
        os.kill(int(journal.read_text()), signal.SIGKILL)
        until(lambda: starts(2))
    finally:
        child.stop()
