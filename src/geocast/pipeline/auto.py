"""Choosing an algorithm by the size of the subscriptions, the memory at hand, and a short trial.

RIS is the fastest where every machine can hold the whole index; so the question is whether it can,
and which index answers sooner. Both are estimated from a sample of the subscriptions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import shapely

from geocast.match.matcher import Matcher
from geocast.model import Rejects
from geocast.pipeline.variants import DEFAULT

__all__ = ["DIVIDED", "Choice", "choose", "memory_at_hand"]

DIVIDED: Final = "RIsPS[HT]{KT}"
"""What to take where the whole index does not fit: little memory, and no pair refined twice."""

_CONTAINER_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")
_SAMPLE: Final = 2_000
_TRIAL: Final = 400
_TRIALS: Final[dict[str, str]] = {"RIS": "cells", "RIS[HT]": "hprtree"}
_SHARE_OF_MEMORY: Final = 0.5
_CLEARLY: Final = 0.8
_TOLD: Final = 1.1


@dataclass(frozen=True, slots=True)
class Choice:
    """The name of an algorithm, and one line that says why."""

    name: str
    why: str


def memory_at_hand() -> int:
    """Return the bytes that an index may take here: half of what this machine has free.

    In a container it is at most half of what the container may have.
    """
    free = psutil.virtual_memory().available
    if _CONTAINER_LIMIT.is_file() and (text := _CONTAINER_LIMIT.read_text().strip()).isdecimal():
        free = min(free, int(text))
    return int(free * _SHARE_OF_MEMORY)


def choose(subscriptions: pa.Table, memory: int | None = None) -> Choice:
    """Choose for these subscriptions; `memory` is what an index may take on a worker's machine.

    Without it, that is half of the free memory of this machine.
    """
    limit = memory_at_hand() if memory is None else memory
    rows = np.random.default_rng(1).permutation(subscriptions.num_rows)[:_SAMPLE]
    sample = subscriptions.take(pa.array(np.sort(rows)))
    matchers = {name: Matcher(sample, index=index) for name, index in _TRIALS.items()}
    whole = matchers[DEFAULT]
    scale = subscriptions.num_rows / max(1, sample.num_rows)
    needs = int(whole.nbytes * scale)
    size = f"the index of {subscriptions.num_rows:,} subscriptions takes about {_size(needs)}"
    if needs > limit:
        return Choice(DIVIDED, f"{DIVIDED}: {size}, more than the {_size(limit)} at hand")
    good = np.ones(sample.num_rows, np.bool_)
    good[[reject.row for reject in whole.rejects]] = False
    trial = _like(sample.filter(pa.array(good)))
    seconds = {name: _trial(matcher, trial) for name, matcher in matchers.items()}
    name = "RIS[HT]" if seconds["RIS[HT]"] < _CLEARLY * seconds[DEFAULT] else DEFAULT
    other = next(another for another in _TRIALS if another != name)
    ratio = seconds[other] / max(seconds[name], 1e-9)
    times = f"{ratio:.1f} times" if ratio >= _TOLD else "about"
    quick = f"{times} as fast as {other} in a trial"
    return Choice(name, f"{name}: {size} of {_size(limit)} at hand; {quick}")


def _trial(matcher: Matcher, publications: pa.Table) -> float:
    """Return the seconds that a batch takes, nothing of it remembered."""
    seconds = []
    for _ in range(2):  # the first time may have to load compiled code
        matcher.forget()
        began = time.perf_counter()
        matcher.match(publications, rejects=Rejects())
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _like(sample: pa.Table) -> pa.Table:
    """Return publications that have the geometries of subscriptions, and points within them."""
    shapes = np.empty(0, dtype=object)
    if "geometry" in sample.column_names:
        wkb = pc.drop_null(sample["geometry"].combine_chunks()).slice(0, _TRIAL)
        shapes = np.asarray(shapely.from_wkb(wkb.to_numpy(zero_copy_only=False)))
    both = shapely.to_wkb(np.concatenate([shapes, shapely.point_on_surface(shapes)]))
    ids = pc.cast(pa.array(np.arange(len(both))), pa.string())
    return pa.table({"id": ids, "geometry": pa.array(both, pa.binary())})


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
