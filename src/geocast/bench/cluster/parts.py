"""The processes of a cluster, by the names of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

__all__ = ["ALL", "Parts", "is_alive"]

_BROKERS: Final = ("broker-1", "broker-2", "broker-3")
_WORKERS: Final = ("worker-1", "worker-2")
_GROUPS: Final = {
    "broker": _BROKERS,
    "worker": _WORKERS,
    "gateway": ("gateway-1", "gateway-2"),
    "deliver": ("deliver-1", "deliver-2"),
    "driver": ("pipeline",),
}
ALL: Final = (
    "postgres",
    *_BROKERS,
    "master",
    *_WORKERS,
    "pipeline",
    *_GROUPS["gateway"],
    *_GROUPS["deliver"],
)
_EXECUTOR: Final = "CoarseGrainedExecutorBackend"
_PATIENCE_SECONDS: Final = 10.0


class Parts:
    """What of a cluster runs, as the files in its folder say."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, kind: str) -> list[psutil.Process]:
        """Return the processes of a kind: a group of parts, or one part by its name."""
        if kind in ("executor", "python"):
            return [process for process in self._under(_WORKERS) if _is(process, kind)]
        return [*self._named(_GROUPS.get(kind, (kind,)))]

    def ended(self) -> list[str]:
        """Return the parts that do not run."""
        return [name for name in ALL if not any(map(is_alive, self._named((name,))))]

    def kill(self) -> None:
        """Kill everything, with what it has started, also what was still being started."""
        written = (file.relative_to(self._folder) for file in self._folder.rglob("*.pid"))
        names = [str(file.with_suffix("")) for file in written]
        found = [*self._named(names), *self._under(names)]
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(found, _PATIENCE_SECONDS)

    def _under(self, names: Iterable[str]) -> Iterator[psutil.Process]:
        for part in self._named(names):
            with suppress(psutil.NoSuchProcess):
                yield from part.children(recursive=True)

    def _named(self, names: Iterable[str]) -> Iterator[psutil.Process]:
        for name in names:
            with suppress(OSError, ValueError, psutil.NoSuchProcess):
                yield psutil.Process(int((self._folder / f"{name}.pid").read_text()))


def is_alive(process: psutil.Process) -> bool:
    """Tell whether a process runs, and is not only what is left of one."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _is(process: psutil.Process, kind: str) -> bool:
    try:
        command = " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return _EXECUTOR in command if kind == "executor" else " pyspark.worker" in command
