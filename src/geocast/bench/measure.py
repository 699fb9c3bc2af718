"""Timing of whole batches, one thread each."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numba
import pyarrow as pa

__all__ = ["Seconds", "one_thread", "timed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long something took, by the CPU and by the clock on the wall."""

    cpu: float
    wall: float


def timed(
    work: Callable[[], T], cpu_clock: Callable[[], float] = time.process_time
) -> tuple[T, Seconds]:
    """Do the work and return its result and its time; garbage is collected before.

    The CPU clock is that of all threads of this process, so that hidden threads count.
    """
    gc.collect()
    wall, cpu = time.perf_counter(), cpu_clock()
    result = work()
    return result, Seconds(cpu_clock() - cpu, time.perf_counter() - wall)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep Arrow and numba to one thread for the length of the block."""
    arrow, jit = pa.cpu_count(), numba.get_num_threads()
    pa.set_cpu_count(1)
    numba.set_num_threads(1)
    try:
        yield
    finally:
        pa.set_cpu_count(arrow)
        numba.set_num_threads(jit)
