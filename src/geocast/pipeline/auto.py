"""Choosing an algorithm by the size of the subscriptions, the memory at hand, and a short trial.

RIS is the fastest where every machine can hold the whole index; so the question is whether it can,
and which index answers sooner. Both are estimated from a sample of the subscriptions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import shapely

from geocast.match.matcher import Matcher
from geocast.model import Rejects

__all__ = ["DIVIDED", "Choice", "choose", "memory_at_hand"]

DIVIDED: Final = "RIsPS[HT]{KT}"
"""What to take where the whole index does not fit: little memory, and no pair refined twice."""

_SAMPLE: Final = 2_000
_TRIAL: Final = 400
_TRIALS: Final[dict[str, str]] = {"RIS": "cells", "RIS[HT]": "hprtree"}
_SHARE_OF_MEMORY: Final = 0.5
_CLEARLY: Final = 0.8


@dataclass(frozen=True, slots=True)
class Choice:
    """The name of an algorithm, and one line that says why."""

    name: str
    why: str


def memory_at_hand() -> int:
    """Return the bytes that an index may take on this machine: half of what is free."""
    return int(psutil.virtual_memory().available * _SHARE_OF_MEMORY)


def choose(subscriptions: pa.Table, memory: int | None = None) -> Choice:
    """Choose for these subscriptions; `memory` is what an index may take on a worker's machine.

    Without it, that is half of the free memory of this machine.
    """
    limit = memory_at_hand() if memory is None else memory
    rows = np.random.default_rng(1).permutation(subscriptions.num_rows)[:_SAMPLE]
    sample = subscriptions.take(pa.array(np.sort(rows)))
    whole = Matcher(sample)
    scale = subscriptions.num_rows / max(1, sample.num_rows)
    needs = int(whole.nbytes * scale)
    size = f"the index of {subscriptions.num_rows:,} subscriptions takes about {_size(needs)}"
    if needs > limit:
        return Choice(DIVIDED, f"{DIVIDED}: {size}, more than the {_size(limit)} at hand")
    seconds = {name: _trial(sample, index) for name, index in _TRIALS.items()}
    name = "RIS[HT]" if seconds["RIS[HT]"] < _CLEARLY * seconds["RIS"] else "RIS"
    other = next(trial for trial in _TRIALS if trial != name)
    ratio = seconds[other] / max(seconds[name], 1e-9)
    quick = f"{ratio:.1f} times as fast as {other} in a trial"
    return Choice(name, f"{name}: {size} of {_size(limit)} at hand; {quick}")


def _trial(sample: pa.Table, index: str) -> float:
    """Return the seconds that a batch takes which is like the subscriptions themselves."""
    matcher = Matcher(sample, index=index)
    publications = _like(sample)
    seconds = []
    for _ in range(2):  # the first time may have to load compiled code
        matcher.forget()
        began = time.perf_counter()
        matcher.match(publications, rejects=Rejects())
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _like(sample: pa.Table) -> pa.Table:
    """Return publications that have the geometries of subscriptions, and points within them."""
    wkb = pa.array([], pa.binary())
    if "geometry" in sample.column_names:
        column = sample["geometry"].combine_chunks()
        wkb = pc.drop_null(column.cast(pa.binary())).slice(0, _TRIAL)
    shapes = shapely.from_wkb(wkb.to_numpy(zero_copy_only=False), on_invalid="ignore")
    known = shapes[~shapely.is_missing(shapes)] if len(shapes) else np.empty(0, dtype=object)
    points = shapely.point_on_surface(known)
    both = shapely.to_wkb(np.concatenate([known, points]))
    ids = pc.cast(pa.array(np.arange(len(both))), pa.string())
    return pa.table({"id": ids, "geometry": pa.array(both, pa.binary())})


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
