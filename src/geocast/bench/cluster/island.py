"""A network namespace for one broker, which can be cut off from all others, and joined again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import psutil

__all__ = ["Island"]

_NAMES: Final = "geocast-"
_INSIDE: Final = "inside"
_PLACES: Final = Path("/run/netns")
_BLOCKS: Final = 1 << 15


class Island:
    """A namespace with one link to where this process is; where it may not make one, nothing.

    The link has a block of four addresses of 198.18.0.0/15, which are kept for tests between
    networks (RFC 2544): `host` is this side, `inside` the other. Namespace and link have the name
    of this process, so what one that was killed has left behind is known, and removed.
    """

    def __init__(self) -> None:
        self.name = f"{_NAMES}{os.getpid()}"
        block = os.getpid() % _BLOCKS
        start = f"198.{18 + (block >> 14)}.{block >> 6 & 255}"
        low = (block & 63) << 2
        self.host, self.inside = f"{start}.{low + 1}", f"{start}.{low + 2}"
        self.is_there = False

    def make(self) -> None:
        """Make it, or see that this is not allowed."""
        _remove_abandoned()
        steps = [
            f"netns add {self.name}",
            f"link add {self.name} type veth peer name {_INSIDE} netns {self.name}",
            f"addr add {self.host}/30 dev {self.name}",
            f"link set {self.name} up",
            f"-n {self.name} addr add {self.inside}/30 dev {_INSIDE}",
            f"-n {self.name} link set lo up",
            f"-n {self.name} link set {_INSIDE} up",
        ]
        self.is_there = all(_ip(step) for step in steps)
        if not self.is_there:
            self.remove()

    def cut(self) -> None:
        """Let nothing in or out any more; nobody is told."""
        _ip(f"-n {self.name} link set {_INSIDE} down")

    def join(self) -> None:
        """Let everything in and out again."""
        if self.is_there:
            _ip(f"-n {self.name} link set {_INSIDE} up")

    def remove(self) -> None:
        """Remove namespace and link; it does not matter whether they are there."""
        self.is_there = False
        _remove(self.name)


def _remove_abandoned() -> None:
    for place in _PLACES.glob(f"{_NAMES}*"):
        owner = place.name.removeprefix(_NAMES)
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            _remove(place.name)


def _remove(name: str) -> None:
    _ip(f"link del {name}")
    _ip(f"netns del {name}")


def _ip(words: str) -> bool:
    try:
        return not subprocess.run(
            ["ip", *words.split()], capture_output=True, check=False
        ).returncode
    except OSError:
        return False
