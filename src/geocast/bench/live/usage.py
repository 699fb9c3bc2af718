"""What the processes of a service take: processor and memory, by role."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Final

import psutil

from geocast.bench.service import ServiceUnderTest

__all__ = ["Usage", "UsageMeter"]

_EVERY_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one role: processor seconds, and the largest memory seen (unshared where known)."""

    role: str
    cpu_seconds: float
    memory: int


class UsageMeter:
    """Watches a service for the length of a `with` block."""

    def __init__(self, service: ServiceUnderTest) -> None:
        self._service = service
        self._first: dict[int, float] = {}
        self._last: dict[int, tuple[str, float]] = {}
        self._memory: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> UsageMeter:
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

    def usage(self) -> list[Usage]:
        """Return what each role took between the beginning and the end of the block."""
        seconds: dict[str, float] = dict.fromkeys(self._memory, 0.0)
        for pid, (role, last) in self._last.items():
            seconds[role] += last - self._first[pid]
        return [Usage(role, seconds[role], memory) for role, memory in self._memory.items()]

    def _watch(self) -> None:
        self._look()
        while not self._stop.wait(_EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        for role, processes in self._service.processes().items():
            memory = 0
            for process in processes:
                try:
                    times = process.cpu_times()
                    memory += process.memory_full_info().uss
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
                used = times.user + times.system
                self._first.setdefault(process.pid, used)
                self._last[process.pid] = (role, used)
            self._memory[role] = max(self._memory.get(role, 0), memory)
