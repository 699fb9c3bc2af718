"""Settings: the default one of an algorithm, and how each axis changes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from geocast.bench.thesis.door import REPRESENTATIVES
from geocast.bench.thesis.scale import Scale
from geocast.bench.thesis.setting import Setting, Way
from geocast.bench.workload import RECIPES, Recipe

__all__ = ["Sizes", "Vary", "family", "labelled", "taking_part"]

Vary = Callable[[Setting, float], Setting]
"""Sets the value of an axis."""

_MEGABYTES_A_CORE = 1024
_PARTITIONING = ("sPS", "sPIS", "hPS")
_FEW = ("RIS", "RIsPS")
_FEW_PUBLICATIONS = 50


def family(engine: str) -> str:
    """Return the algorithm of a variant: RIsPS of RIsPS[HT]{KT}."""
    return re.split(r"[\[{]", engine)[0]


def labelled(value: float) -> str:
    """Say a value on an axis: whole numbers as they are, shares in per cent."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.0%}"


def taking_part(scale: Scale, experiment: str) -> list[str]:
    """Return the representatives of an experiment; RIS has no partitions to vary in F."""
    if experiment == "F":
        return [name for name in REPRESENTATIVES if family(name) != "RIS"]
    return [n for n in REPRESENTATIVES if experiment not in scale.few or family(n) in _FEW]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a scale on so many cores."""

    scale: Scale
    cores: int

    @property
    def core_counts(self) -> tuple[int, ...]:
        """Return 1, 2, 4 and so on, up to all cores."""
        doubled = [2**power for power in range(self.cores.bit_length())]
        return tuple(dict.fromkeys([*doubled, self.cores]))

    def executors(self) -> list[tuple[str, str]]:
        """Return the types of executors that these cores allow: a label, and the master."""
        small = f"local-cluster[{self.cores},1,{_MEGABYTES_A_CORE}]"
        large = f"local-cluster[1,{self.cores},{_MEGABYTES_A_CORE * self.cores}]"
        clusters = [(f"{self.cores} x 1", small), (f"1 x {self.cores}", large)]
        within = (f"driver x {self.cores}", self._local(self.cores))
        return [*clusters[: self.scale.clusters], within]

    def batch(self, engine: str, way: Way = "batch") -> Setting:
        """Return the setting of the defaults."""
        scale = self.scale
        recipe = replace(RECIPES["thesis"], subs=scale.subs, pubs=scale.pubs, seed=scale.seed)
        return Setting(
            way=way,
            engine=engine,
            recipe=recipe,
            cells=scale.cells if family(engine).endswith(_PARTITIONING) else 0,
            master=self._local(self.cores),
            files=scale.files,
            warm=scale.warm,
        )

    def with_cells(self, setting: Setting, value: float) -> Setting:
        """Set the partitions of the subscriptions, where there are any."""
        return replace(setting, cells=int(value)) if setting.cells else setting

    def with_cores(self, setting: Setting, value: float) -> Setting:
        """Set the cores."""
        return replace(setting, master=self._local(int(value)))

    def with_subs(self, setting: Setting, value: float) -> Setting:
        """Set the number of subscriptions."""
        return _drawn(setting, subs=int(value))

    def with_pubs(self, setting: Setting, value: float) -> Setting:
        """Set the number of publications."""
        return _drawn(setting, pubs=int(value))

    def with_unique(self, setting: Setting) -> Setting:
        """Have no polygon repeat."""
        return _drawn(setting, unique=True)

    def with_points(self, setting: Setting, value: float) -> Setting:
        """Set the share of points among the publications."""
        return _drawn(setting, points=float(value))

    def with_predicate(self, setting: Setting, predicate: str) -> Setting:
        """Set the predicate of all subscriptions."""
        return _drawn(setting, predicate=predicate)

    def with_jobs(self, setting: Setting, value: float) -> Setting:
        """Stream, with so many queries at once."""
        return replace(setting, way="stream", jobs=int(value), files=self.scale.micro_batches)

    def with_kafka(self, setting: Setting, value: float) -> Setting:
        """Stream from a topic of Kafka with so many partitions."""
        return replace(setting, way="kafka", files=int(value))

    def with_memory(self, setting: Setting, value: float) -> Setting:
        """Look at memory, with so many subscriptions of which none repeats."""
        changed = _drawn(setting, subs=int(value), unique=True, densify=self.scale.densify)
        workers, warm = self.scale.workers, max(self.scale.warm, _FEW_PUBLICATIONS)
        return replace(changed, way="memory", master=self._local(workers), files=workers, warm=warm)

    @staticmethod
    def _local(cores: int) -> str:
        return f"local[{cores}]"


def _drawn(setting: Setting, **changes: Any) -> Setting:
    recipe: Recipe = replace(setting.recipe, **changes)
    return replace(setting, recipe=recipe)
