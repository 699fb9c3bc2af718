"""What a process is called among those that work together, and whether it still runs."""

from __future__ import annotations

import os
import secrets
import socket
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["is_gone", "process_name", "process_of", "this_process"]

_PROC: Final = Path("/proc")
_ENDED: Final = frozenset("ZX")


def process_name() -> str:
    """Return a name that no other process has, here or elsewhere; each call gives another."""
    return f"{this_process()}/{secrets.token_hex(4)}"


def this_process() -> str:
    """Return what all names of this process begin with."""
    pid = os.getpid()
    started = (_state(pid) or ("", "0"))[1]
    return f"{socket.gethostname()}/{_space()}/{pid}/{started}"


def process_of(name: str) -> str:
    """Return what all names of the process begin with that has this one."""
    return name.rsplit("/", 1)[0]


def is_gone(name: str) -> bool:
    """Whether the process of a name is known to have ended.

    That can be told of processes that this one could see: on the same machine, in the same
    container. Of others it cannot, and the answer is False.
    """
    parts = name.split("/")
    if len(parts) != 5 or not _space() or parts[1] != _space():
        return False
    state = _state(int(parts[2]))
    return state is None or state[1] != parts[3] or state[0] in _ENDED


@cache
def _space() -> str:
    """Return what all processes have in common that see each other; empty if nobody can tell."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{os.stat(_PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _state(pid: int) -> tuple[str, str] | None:
    """Return the state of a process and when it was started; None if there is none."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], fields[19]
