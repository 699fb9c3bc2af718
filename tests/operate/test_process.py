from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geocast.errors import StateError
from geocast.operate import hold_lock, is_held, stop_on_signals

HOLD = """
import sys, time
from pathlib import Path
from geocast.operate import hold_lock
with hold_lock(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    time.sleep(60)
"""
CHILD = """
import os, subprocess, sys, time
from functools import partial
from geocast.operate import die_with_parent
child = subprocess.Popen(["sleep", "60"], preexec_fn=partial(die_with_parent, os.getpid()))
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_lock_is_held_once_and_ends_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert not is_held(lock)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_held(lock)
        with (
            pytest.raises(StateError, match=f"it is in use by process {holder.pid}"),
            hold_lock(lock, "it"),
        ):
            pass
        holder.kill()
    assert not is_held(lock)
    with hold_lock(lock, "it"):
        assert is_held(lock)


def test_a_child_does_not_outlive_its_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while _runs(child):
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_signals_set_the_event() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    try:
        stop = stop_on_signals()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5)
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])
