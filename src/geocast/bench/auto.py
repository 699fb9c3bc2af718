"""What `auto` chooses, beside the five representatives, on every workload of the benchmark."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from geocast.bench.core import Announce
from geocast.bench.data import DataFolder
from geocast.bench.thesis.batch import measure_batch
from geocast.bench.thesis.door import REPRESENTATIVES
from geocast.bench.thesis.scale import Scale
from geocast.bench.thesis.sessions import Sessions
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.sizes import Sizes
from geocast.bench.thesis.workloads import Workloads
from geocast.bench.workload import Recipe
from geocast.pipeline.auto import choose
from geocast.pipeline.variants import AUTO

__all__ = ["SLOWEST_ALLOWED", "Chosen", "count_auto", "run_auto"]

SLOWEST_ALLOWED = 0.8
"""The least throughput of what is chosen, in those of the best representative."""

_ENGINES = (AUTO, *REPRESENTATIVES)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The best rates on a workload, publications a second; `agree` if all gave the same matches."""

    workload: str
    name: str
    rates: Mapping[str, float]
    agree: bool

    @property
    def best(self) -> str:
        """The fastest representative."""
        return max(REPRESENTATIVES, key=lambda name: self.rates[name])

    @property
    def ratio(self) -> float:
        """The throughput of what was chosen, in those of the fastest representative."""
        return self.rates[AUTO] / self.rates[self.best]


def count_auto(recipes: Mapping[str, Recipe], rounds: int) -> int:
    """Return how many things a run announces."""
    return len(recipes) * (1 + len(_ENGINES) * rounds)


def run_auto(
    recipes: Mapping[str, Recipe],
    folder: DataFolder,
    scale: Scale,
    cores: int,
    rounds: int,
    announce: Announce,
) -> Iterator[Chosen]:
    """Match every workload on Spark with each of them, in rounds; the best time counts.

    Of the scale, only partitions, files and publications to warm up with are taken.
    """
    sizes = Sizes(scale, cores)
    with tempfile.TemporaryDirectory(prefix="geocast-auto-") as room:
        workloads, sessions = Workloads(folder, Path(room) / "data"), Sessions("")
        try:
            for workload, recipe in recipes.items():
                found: dict[str, Found] = {}
                announce(f"{workload}: drawing and choosing")
                chosen = choose(workloads.files(_setting(sizes, "RIS", recipe)).subscriptions).name
                for engine in _ENGINES * rounds:
                    announce(f"{workload}: {engine}")
                    setting = _setting(sizes, chosen if engine == AUTO else engine, recipe)
                    files = workloads.files(setting)
                    session = sessions.open(setting.master, fresh=False)
                    one = measure_batch(session, setting, files, Path(room) / "answers")
                    if engine not in found or one.rate > found[engine].rate:
                        found[engine] = one
                rates = {engine: one.rate for engine, one in found.items()}
                agree = len({one.matches for one in found.values()}) == 1
                yield Chosen(workload, chosen, rates, agree)
        finally:
            sessions.close()


def _setting(sizes: Sizes, engine: str, recipe: Recipe) -> Setting:
    return replace(sizes.batch(engine), recipe=recipe)
