"""What the thesis claims, and how rows of results confirm or refute it.

A judge looks at the evidence and returns whether the claim holds, and what was found in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from geocast.bench.thesis.evidence import Evidence, MissingError
from geocast.bench.thesis.judges import axes, variants
from geocast.bench.thesis.setting import NotMeasurableError

__all__ = ["CLAIMS", "Claim", "Judged", "Word", "judge_claims"]

Word = Literal["confirmed", "refuted", "not measured", "not measurable here"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the thesis, and by what it is judged here."""

    experiment: str
    text: str
    rule: str
    judge: Callable[[Evidence], tuple[bool, str]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, the verdict, and what was found, or why nothing was."""

    claim: Claim
    word: Word
    found: str


CLAIMS: Sequence[Claim] = (
    Claim(
        "ranking",
        "RIS is the fastest, then RIsPS, then RIhPS; sPIS and sPS are the slowest",
        "the order of the representatives' throughput at the default sizes",
        variants.ranking,
    ),
    Claim(
        "ranking",
        "sPIS and sPS are alike",
        "their throughput at the default sizes differs by less than a quarter",
        variants.partitioned_alike,
    ),
    Claim(
        "ranking",
        "RIsPS reaches more than half of RIS's throughput with less than a quarter of its memory",
        "both where memory was measured, at most subscriptions, of which none repeats",
        variants.half_rate_quarter_memory,
    ),
    Claim(
        "A",
        "Hilbert partitions are the worst by far; equal grid, Voronoi and STR are weak",
        "mean throughput over all variants by partitioning at the default sizes",
        variants.weak_partitionings,
    ),
    Claim(
        "A",
        "sPS: quadtree partitions are somewhat better than KDB",
        "mean ratio over all points",
        lambda evidence: variants.better(evidence, variants.FIGURES_A, "sPS{QT}", "sPS{KT}"),
    ),
    Claim(
        "A",
        "the indexes of RIS are alike",
        "the slowest of the three has more than 0.85 of the fastest's throughput on average",
        variants.ris_alike,
    ),
    Claim(
        "B",
        "sPIS: quadtree partitions are always somewhat better than KDB",
        "mean ratio over all points and indexes",
        lambda evidence: variants.better(evidence, variants.FIGURES_B, "{QT}", "{KT}"),
    ),
    Claim(
        "C",
        "RIsPS: a quadtree index is much worse than STR and HPR trees",
        "mean ratio to either over all points is below 0.8",
        lambda evidence: variants.worse_index(evidence, variants.FIGURES_C),
    ),
    Claim(
        "D",
        "RIhPS: a quadtree index is worse than STR and HPR trees",
        "mean ratio to either over all points is below 0.95",
        lambda evidence: variants.worse_index(evidence, variants.FIGURES_D, 0.95),
    ),
    Claim(
        "E",
        "balanced executors (three cores) are the best, large and oversized ones close",
        "needs executors of three cores",
        variants.executors,
    ),
    Claim(
        "F",
        "sPS, sPIS and RIhPS are fastest with 100 partitions",
        "the best place on an axis that goes on beyond 100",
        variants.hundred_partitions,
    ),
    Claim(
        "F",
        "RIsPS does as well or better with more than 100 partitions",
        "the best throughput beyond 100 is at least 0.95 of that at 100",
        variants.risps_grows,
    ),
    Claim(
        "G",
        "throughput and latency both rise with the number of concurrent jobs",
        "both are higher with the most jobs than with one, for every representative",
        axes.jobs_raise_both,
    ),
    Claim(
        "G",
        "four jobs balance throughput and latency",
        "with four, at least 0.8 of the best throughput at no more than 0.7 of the worst latency",
        axes.four_jobs,
    ),
    Claim(
        "G",
        "RIS has the highest throughput and the lowest latency",
        "means over all numbers of jobs",
        axes.ris_leads_streams,
    ),
    Claim(
        "H",
        "RIS is best with 128 Kafka partitions, the others with 32",
        "where on the axis each representative has its best throughput",
        axes.kafka,
    ),
    Claim(
        "I",
        "throughput rises with publications, ever less, as the overhead fades",
        "every representative is faster with the most than with the fewest; factors shrink",
        axes.publications,
    ),
    Claim(
        "J",
        "throughput grows linearly with executors, but for RIhPS",
        "from one core to all: at least 0.8 of the factor of cores; RIhPS less",
        axes.linear,
    ),
    Claim(
        "K",
        "throughput falls slower than subscriptions grow",
        "from fewest to most subscriptions, for every representative",
        axes.subscriptions,
    ),
    Claim(
        "L",
        "RIS takes up to as many times the static memory of the others as there are executors (32)",
        "RIS's static memory a worker is at least 1.5 times that of every other",
        axes.static_memory,
    ),
    Claim(
        "L",
        "dynamic memory grows slower than subscriptions",
        "from fewest to most subscriptions, for every representative",
        axes.dynamic_sublinear,
    ),
    Claim(
        "L",
        "dynamic memory stays below 10 GB, but for RIhPS",
        "the most of any other representative",
        axes.dynamic_bounded,
    ),
    Claim(
        "M",
        "throughput rises steeply with the share of points",
        "with points only at least twice that without points, for every representative",
        axes.points,
    ),
    Claim(
        "M",
        "RIhPS is the slowest when all publications are points",
        "throughput with points only",
        axes.rihps_last_on_points,
    ),
    Claim(
        "N",
        "cheap: coveredBy, equals, within (subscription first); middle: covers, contains; dear: "
        "crosses, intersects, overlaps, touches",
        "mean throughput of the three groups; publication first, coveredBy is covers, and so on",
        axes.predicates,
    ),
    Claim(
        "8.4",
        "RIS's overhead over one process is nearly nil",
        "throughput of RIS[HT] on all cores is at least 0.9 of CEN[HT]'s, at the default sizes",
        axes.overhead,
    ),
    Claim(
        "8.4",
        "the four indexes of CEN are alike",
        "the slowest has more than 0.85 of the fastest's throughput on all cores",
        axes.central_alike,
    ),
    Claim(
        "8.4",
        "Sedona's spatial join has half the throughput of plain Spark joins",
        "sPS and sPIS are at least 1.5 times as fast as by Sedona",
        axes.sedona,
    ),
)
"""The claims of the table in the thesis's chapter 8."""


def judge_claims(evidence: Evidence) -> list[Judged]:
    """Judge every claim by the rows there are."""
    return [_judged(claim, evidence) for claim in CLAIMS]


def _judged(claim: Claim, evidence: Evidence) -> Judged:
    try:
        holds, found = claim.judge(evidence)
    except MissingError as error:
        return Judged(claim, "not measured", str(error))
    except NotMeasurableError as error:
        return Judged(claim, "not measurable here", str(error))
    return Judged(claim, "confirmed" if holds else "refuted", found)
