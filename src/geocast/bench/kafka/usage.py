"""What processes take over time: processor seconds, and memory that may grow or not."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import Final

import numpy as np
import psutil

from geocast.bench.kafka.system import KafkaService

__all__ = ["Meter", "RoleUsage"]

_EVERY_SECONDS: Final = 1.0
_FIFTHS: Final = 5


@dataclass(frozen=True, slots=True)
class RoleUsage:
    """Of all processes of one role: processor seconds, and memory in each fifth of the time.

    Memory is what they do not share with others, in bytes: medians.
    """

    role: str
    cpu_seconds: float
    memory: tuple[int, ...]


class Meter:
    """Watches a service, and processes of the measurement itself, for the length of a block."""

    def __init__(self, service: KafkaService, more: dict[str, int] | None = None) -> None:
        self._service = service
        self._more = more or {}
        self._first: dict[tuple[str, int], float] = {}
        self._last: dict[tuple[str, int], float] = {}
        self._memory: dict[str, list[tuple[float, int]]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Meter:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def usage(self) -> list[RoleUsage]:
        """Return what each role took between the beginning and the end of the block."""
        seconds = dict.fromkeys(self._memory, 0.0)
        for (role, pid), last in self._last.items():
            seconds[role] += last - self._first[role, pid]
        return [
            RoleUsage(role, seconds[role], _by_fifth(series))
            for role, series in self._memory.items()
            if seconds[role] or any(memory for _, memory in series)
        ]

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        moment = time.monotonic()
        found = self._service.processes()
        for role, pid in self._more.items():
            if psutil.pid_exists(pid):
                found[role] = [psutil.Process(pid)]
        for role, processes in found.items():
            memory = sum(self._noted(role, process) for process in processes)
            self._memory.setdefault(role, []).append((moment, memory))

    def _noted(self, role: str, process: psutil.Process) -> int:
        """Note what a process has used so far; return its memory."""
        try:
            times = process.cpu_times()
            memory: int = process.memory_full_info().uss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return 0
        used = times.user + times.system
        self._first.setdefault((role, process.pid), used)
        self._last[role, process.pid] = used
        return memory


def _by_fifth(series: list[tuple[float, int]]) -> tuple[int, ...]:
    """Return the median of each fifth of the time; where nothing was seen, that before it."""
    at, memory = (np.array(column) for column in zip(*series, strict=True))
    edges = np.linspace(at[0], at[-1], _FIFTHS + 1)
    found: list[int] = []
    for low, high in pairwise(edges.tolist()):
        seen = memory[(at >= low) & (at <= high)]
        found.append(int(np.median(seen)) if len(seen) else (found or [0])[-1])
    return tuple(found)
