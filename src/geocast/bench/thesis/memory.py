"""How much memory the Python workers of a Spark job take: alone, shared, and all together."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from pyspark.sql import SparkSession

from geocast.bench.thesis.batch import BatchJob
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.workloads import Files

__all__ = ["Memory", "measure_memory", "watched", "worker_memory"]

_EVERY_SECONDS = 0.05
_FEW = 20
_LIBRARIES = (sys.prefix, sys.base_prefix, "/usr", "/lib", "/dev", "/memfd")


@dataclass(slots=True)
class Memory:
    """Bytes of the worker that has most of each, and of all workers.

    `mapped` are data files, not libraries; what workers share counts once in `together`.
    """

    unshared: int = 0
    mapped: int = 0
    together: int = 0

    def at_least(self, other: Memory) -> None:
        """Keep the larger of each."""
        self.unshared = max(self.unshared, other.unshared)
        self.mapped = max(self.mapped, other.mapped)
        self.together = max(self.together, other.together)


def measure_memory(session: SparkSession, setting: Setting, files: Files, room: Path) -> Found:
    """Match in a session that has done nothing else, and watch its workers.

    What code takes is none of it: the workers have matched with a few subscriptions before. A
    mapped file counts as far as it is in memory after all publications were matched.
    """
    few = replace(files, subscriptions=files.subscriptions.slice(0, _FEW))
    BatchJob(session, setting, few, room).warm()
    idle = worker_memory()
    job = BatchJob(session, setting, files, room)
    job.warm()
    ready = worker_memory()
    with watched() as most:
        found = job.run()
    return replace(
        found,
        static_unshared=max(0, ready.unshared - idle.unshared),
        static_shared=max(0, most.mapped - idle.mapped),
        dynamic=max(0, most.unshared - ready.unshared),
        machine=max(0, most.together - idle.together),
    )


@contextmanager
def watched() -> Iterator[Memory]:
    """Look at the workers again and again for the length of the block, and keep the most."""
    most, stop = Memory(), threading.Event()

    def look() -> None:
        while True:
            most.at_least(worker_memory())
            if stop.wait(_EVERY_SECONDS):
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        stop.set()
        thread.join()
        most.at_least(worker_memory())


def worker_memory() -> Memory:
    """Look at the Python workers of this process's Spark now."""
    total = Memory()
    for process in psutil.Process().children(recursive=True):
        try:
            if not _is_worker(process):
                continue
            taken, maps = process.memory_full_info(), process.memory_maps(grouped=True)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        mapped = sum(entry.rss for entry in maps if _is_data(entry.path))
        total.unshared = max(total.unshared, taken.uss)
        total.mapped = max(total.mapped, mapped)
        total.together += taken.pss
    return total


def _is_worker(process: psutil.Process) -> bool:
    """Tell a worker: it was forked from Spark's daemon, so both have the same command line."""
    command, parent = process.cmdline(), process.parent()
    return parent is not None and "-m" in command and command == parent.cmdline()


def _is_data(path: str) -> bool:
    return path.startswith("/") and not path.startswith(_LIBRARIES) and ".so" not in path
