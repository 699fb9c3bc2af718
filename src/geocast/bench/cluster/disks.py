"""Small disks for parts of a cluster, which can be filled."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["Disks"]

_PLACES: Final = {
    "full disk of a broker": "kafka/3/data",
    "full disk of the pipeline": "data/pipeline",
}
_BYTES: Final = 512 << 20
_FILLER: Final = "filler"


class Disks:
    """File systems in memory where this process may mount them, else none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mounted: dict[str, Path] = {}

    def mount(self) -> None:
        """Give the parts that must not be there yet their disks."""
        for fault, name in _PLACES.items():
            disk = self._folder / name
            disk.mkdir(parents=True)
            options = ["-t", "tmpfs", "-o", f"size={_BYTES}", "geocast", str(disk)]
            done = subprocess.run(["mount", *options], capture_output=True, check=False)
            if done.returncode == 0:
                self._mounted[fault] = disk

    @property
    def faults(self) -> Iterable[str]:
        """What can be done to them."""
        return self._mounted

    def fill(self, fault: str) -> None:
        """Leave not a byte free."""
        with suppress(OSError), (self._mounted[fault] / _FILLER).open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))

    def empty(self) -> None:
        """Give the room back."""
        for disk in self._mounted.values():
            (disk / _FILLER).unlink(missing_ok=True)

    def unmount(self) -> None:
        """Take all away."""
        for disk in self._mounted.values():
            subprocess.run(["umount", str(disk)], check=False, capture_output=True)
