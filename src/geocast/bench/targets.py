"""What Geocast is to reach, as ratios within one run, and whether it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from geocast.bench.core import COLD, WARM
from geocast.bench.peers.shapely_plain import ShapelyPlain
from geocast.bench.results import IndexFacts, Results
from geocast.bench.transport import FILES_ON_SPARK, NO_MATCHING, ON_SPARK, TWO_PROCESSES

__all__ = ["LIMITS", "RATIOS", "Limit", "Ratio", "Verdict", "verdicts"]

_PLAIN = ShapelyPlain.name


@dataclass(frozen=True, slots=True)
class Ratio:
    """An engine's rate on a workload is to be at least so many times another's."""

    workload: str
    engine: str
    against: str
    at_least: float
    aim: float | None = None
    against_workload: str | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """A fact of the index is to stay below a bound."""

    workload: str
    what: str
    value: Callable[[IndexFacts], float]
    below: float
    unit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target, what was found, and whether it was reached."""

    workload: str
    what: str
    value: float
    bound: float
    aim: float | None
    unit: str
    passed: bool

    @property
    def target(self) -> str:
        """The target in words."""
        if self.unit != "x":
            return f"< {self.bound:,g} {self.unit}"
        aim = "" if self.aim is None else f" (aim {self.aim:,g}x)"
        return f">= {self.bound:,g}x{aim}"

    @property
    def found(self) -> str:
        """The value in words."""
        if self.unit == "x":
            return f"{self.value:,.2f}x" if self.value < 10 else f"{self.value:,.0f}x"
        number = f"{self.value:,.3g}" if self.value < 100 else f"{self.value:,.0f}"
        return f"{number} {self.unit}"


RATIOS = (
    Ratio("thesis", COLD, _PLAIN, 100, aim=200),
    Ratio("thesis", WARM, _PLAIN, 1000),
    Ratio("unique", COLD, _PLAIN, 10, aim=25),
    Ratio("densified", COLD, _PLAIN, 80),
    Ratio("points", COLD, _PLAIN, 400),
    Ratio("tracks", COLD, _PLAIN, 5),
    Ratio("outlines", COLD, _PLAIN, 5),
    Ratio("osm", COLD, _PLAIN, 5),
    Ratio("million", COLD, COLD, 0.5, against_workload="points-unique"),
    Ratio("spark-points", ON_SPARK, NO_MATCHING, 0.8),
    Ratio("spark-points", ON_SPARK, TWO_PROCESSES, 0.9),
    Ratio("spark-points", FILES_ON_SPARK, TWO_PROCESSES, 0.9),
    Ratio("spark-unique", ON_SPARK, TWO_PROCESSES, 0.9),
    Ratio("spark-unique", FILES_ON_SPARK, TWO_PROCESSES, 0.9),
)

LIMITS = (
    Limit("million", "index build", lambda facts: facts.build_cpu_seconds, 300, "s"),
    Limit("million", "index size", lambda facts: facts.bytes_per_subscription, 2048, "B each"),
    Limit("million", "index open", lambda facts: facts.open_seconds, 1, "s"),
)


def verdicts(results: Results) -> list[Verdict]:
    """Judge every target for which the run has what it takes."""
    return [*_ratio_verdicts(results), *_limit_verdicts(results)]


def _ratio_verdicts(results: Results) -> Iterator[Verdict]:
    for ratio in RATIOS:
        other = ratio.against_workload or ratio.workload
        mine = results.rate(ratio.workload, ratio.engine)
        theirs = results.rate(other, ratio.against)
        if mine is None or theirs is None:
            continue
        value = mine / theirs
        against = f"{ratio.against} on {other}" if ratio.against_workload else ratio.against
        yield Verdict(
            ratio.workload,
            f"{ratio.engine} / {against}",
            value,
            ratio.at_least,
            ratio.aim,
            "x",
            value >= ratio.at_least,
        )


def _limit_verdicts(results: Results) -> Iterator[Verdict]:
    for limit in LIMITS:
        for facts in results.indexes:
            if facts.workload == limit.workload:
                value = limit.value(facts)
                passed = value < limit.below
                yield Verdict(
                    limit.workload, limit.what, value, limit.below, None, limit.unit, passed
                )
