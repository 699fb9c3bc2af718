"""Claims on the ranking, on variants within each algorithm, on executors and partitions."""

from __future__ import annotations

from collections.abc import Sequence

from geocast.bench.thesis.door import REPRESENTATIVES
from geocast.bench.thesis.evidence import Evidence, MissingError, Row, mean
from geocast.bench.thesis.judges.words import Judgement, alike
from geocast.bench.thesis.setting import NotMeasurableError
from geocast.bench.thesis.sizes import family

__all__ = [
    "FIGURES_A",
    "FIGURES_B",
    "FIGURES_C",
    "FIGURES_D",
    "better",
    "executors",
    "half_rate_quarter_memory",
    "hundred_partitions",
    "partitioned_alike",
    "ranking",
    "ris_alike",
    "risps_grows",
    "weak_partitionings",
    "worse_index",
]

FIGURES_A, FIGURES_B = ("8.2", "8.3", "8.4", "8.5"), ("8.6", "8.7", "8.8", "8.9")
FIGURES_C, FIGURES_D = ("8.10", "8.11", "8.12", "8.13"), ("8.14", "8.15", "8.16", "8.17")

_BY_FAMILY = {family(name): name for name in REPRESENTATIVES}
_HUNDRED = 100


def ranking(evidence: Evidence) -> Judgement:
    """RIS > RIsPS > RIhPS > sPIS and sPS."""
    rates = _defaults(evidence)
    order = sorted(rates, key=lambda name: -rates[name])
    holds = order[:3] == ["RIS", "RIsPS", "RIhPS"]
    return holds, " > ".join(f"{name} {rates[name]:,.0f}/s" for name in order)


def partitioned_alike(evidence: Evidence) -> Judgement:
    """The rates of sPIS and sPS are near each other."""
    rates = _defaults(evidence)
    ratio = rates["sPIS"] / rates["sPS"]
    return 0.75 < ratio < 1 / 0.75, f"sPIS has {ratio:.2f} of sPS's throughput"


def half_rate_quarter_memory(evidence: Evidence) -> Judgement:
    """RIsPS against RIS, by the same measurements of memory."""
    ris, risps = (evidence.last_row("8.26", _BY_FAMILY[name]) for name in ("RIS", "RIsPS"))
    rate = risps["rate"] / ris["rate"]
    memory = _static(risps) / max(_static(ris), 1)
    found = (
        f"{rate:.2f} of RIS's throughput ({risps['rate']:,.0f} of {ris['rate']:,.0f}/s), "
        f"{memory:.2f} of its static memory a worker: {_megabytes(risps)}; RIS {_megabytes(ris)}"
    )
    return rate > 0.5 and memory < 0.25, found


def _static(row: Row) -> float:
    return float(row["static_unshared"] + row["static_shared"])


def _megabytes(row: Row) -> str:
    unshared, shared = row["static_unshared"] / 1e6, row["static_shared"] / 1e6
    return f"{unshared:,.0f} MB unshared and {shared:,.0f} shared"


def weak_partitionings(evidence: Evidence) -> Judgement:
    """By partitioning: HI last, QT and KT first."""
    rates: dict[str, list[float]] = {}
    for name, _, value in evidence.points("8.1"):
        if name.endswith("}"):
            rates.setdefault(name[-3:-1], []).append(value)
    if len(rates) < 6:
        raise MissingError("not all six partitionings were measured")
    means = {name: mean(values) for name, values in rates.items()}
    order = sorted(means, key=lambda name: -means[name])
    holds = order[-1] == "HI" and set(order[:2]) == {"QT", "KT"}
    return holds, " > ".join(f"{name} {means[name]:,.0f}/s" for name in order)


def better(evidence: Evidence, figures: Sequence[str], above: str, below: str) -> Judgement:
    """The first kind of variants is faster than the second on average."""
    ratio = evidence.ratio([*figures, "8.1"], above, below)
    return ratio > 1, f"{above} has {ratio:.2f} of {below}'s throughput"


def ris_alike(evidence: Evidence) -> Judgement:
    """The three indexes of RIS."""
    names = ("RIS[HT]", "RIS[ST]", "RIS[QT]")
    return alike({name: evidence.value("8.1", name) for name in names})


def worse_index(evidence: Evidence, figures: Sequence[str], below: float = 0.8) -> Judgement:
    """[QT] against [ST] and [HT]."""
    ratios = {name: evidence.ratio(figures, "[QT]", name) for name in ("[ST]", "[HT]")}
    found = ", ".join(f"{ratio:.2f} of {name}'s throughput" for name, ratio in ratios.items())
    return max(ratios.values()) < below, f"[QT] has {found}"


def executors(evidence: Evidence) -> Judgement:
    """Types of executors."""
    labels = [row["label"] for row in evidence.rows if row["figure"] == "8.18"]
    if not labels:
        raise MissingError("figure 8.18 has no rows")
    raise NotMeasurableError(
        "one machine has no room for the thesis's types of executors, of which the best has three "
        f"cores; measured were {', '.join(dict.fromkeys(labels))} (executors x cores)"
    )


def hundred_partitions(evidence: Evidence) -> Judgement:
    """Where on the axis the best throughput is."""
    best = {}
    for name in ("sPS", "sPIS", "RIhPS"):
        curve = evidence.line("8.19", evidence.of("8.19", name))
        if _HUNDRED not in curve or max(curve) <= _HUNDRED:
            raise MissingError("at this scale the axis does not go beyond 100 partitions")
        best[name] = max(curve, key=lambda x: curve[x])
    found = ", ".join(f"{name} at {x:,.0f}" for name, x in best.items())
    return all(x == _HUNDRED for x in best.values()), f"fastest: {found}"


def risps_grows(evidence: Evidence) -> Judgement:
    """RIsPS beyond a hundred partitions."""
    curve = evidence.line("8.19", evidence.of("8.19", "RIsPS"))
    beyond = [value for x, value in curve.items() if x > _HUNDRED]
    if not beyond or _HUNDRED not in curve:
        raise MissingError("at this scale the axis does not go beyond 100 partitions")
    ratio = max(beyond) / curve[_HUNDRED]
    return ratio >= 0.95, f"{ratio:.2f} of the throughput at 100 partitions"


def _defaults(evidence: Evidence) -> dict[str, float]:
    return {name: evidence.value("8.1", engine) for name, engine in _BY_FAMILY.items()}
