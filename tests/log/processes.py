"""What other processes do to a log in the tests."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

from tests.log.implementations import IMPLEMENTATIONS

__all__ = ["append_for_ever", "append_some", "running", "write_once"]

Processes = list[SpawnProcess]
_CONTEXT = multiprocessing.get_context("spawn")


@contextmanager
def running(number_of: int, target: Callable[..., None], *arguments: object) -> Iterator[Processes]:
    """Give processes that do the same at the same time; each is told its number.

    Those that still run at the end of the block are killed.
    """
    barrier = _CONTEXT.Barrier(number_of)
    processes = [
        _CONTEXT.Process(target=target, args=(barrier, number, *arguments))
        for number in range(number_of)
    ]
    for process in processes:
        process.start()
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join(60)


def append_some(
    barrier: Barrier, number: int, name: str, place: Path, calls: int, size: int
) -> None:
    """Append own records; the log may have to be made first, by one of several processes."""
    barrier.wait(60)
    log = IMPLEMENTATIONS[name](place)
    for call in range(calls):
        log.append([(f"{number}/{call}/{i}", b"%d" % call) for i in range(size)])
    log.close()


def append_for_ever(barrier: Barrier, number: int, name: str, place: Path, size: int) -> None:
    """Append to one partition until killed; the value of a record names its call."""
    log = IMPLEMENTATIONS[name](place, 1)
    barrier.wait(60)
    for call in count():
        own = f"{os.getpid()}/{number}/{call}"
        log.append([(f"{own}/{i}", own.encode()) for i in range(size)])


def write_once(barrier: Barrier, number: int, name: str, place: Path, batches: int) -> None:
    """Write the same sources of the same batches as others do."""
    log = IMPLEMENTATIONS[name](place)
    barrier.wait(60)
    for batch in range(batches):
        for source in range(2):
            records = [(f"{batch}/{source}/{i}", b"") for i in range(10)]
            log.write(source, records, query="q", batch=batch, source=source)
    log.close()
