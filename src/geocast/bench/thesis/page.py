"""The thesis's claims beside what was measured, as one HTML page that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from geocast.bench.machine import machine_facts
from geocast.bench.report.html import document, picture, table
from geocast.bench.thesis.claims import Judged
from geocast.bench.thesis.figures import EXPERIMENTS, Figure
from geocast.bench.thesis.outcomes import REFERENCE, Outcomes
from geocast.bench.thesis.scale import Scale
from geocast.bench.thesis.sessions import DRIVER_MEMORY

__all__ = ["write_page"]

_BODY = """<h1>The thesis's experiments</h1>
<p>Made by <code>{command}</code>: {summary}. Throughput is by the clock on the wall, Parquet to
Parquet, in H Kafka to Parquet{warm}.{caution}</p>
<p>{answers}</p>
<h2>Claims</h2>
{claims}
{experiments}
<h2>What was set</h2>
{settings}
<h2>What has no numbers</h2>
{missing}
<h2>Machine</h2>
{machine}
"""
_WARM = ", after a first job that does not count, on other publications"
_CAUTION = (
    " At these small sizes a job's fixed costs outweigh matching, and the verdicts tell little; "
    "<code>--scale full</code> is for them."
)
_CLASSES = {"confirmed": "pass", "refuted": "fail"}
_CLAIM_HEADINGS = ("experiment", "the thesis", "measured here", "verdict")


def write_page(
    path: Path,
    figures: Sequence[Figure],
    outcomes: Outcomes,
    judged: Sequence[Judged],
    plots: Mapping[str, Path],
    scale: Scale,
    cores: int,
    command: str,
) -> None:
    """Write the page, with the pictures inside."""
    counts = Counter(one.word for one in judged)
    body = _BODY.format(
        command=escape(command),
        summary=", ".join(f"{count} claims {word}" for word, count in counts.items()),
        warm=_WARM if scale.warm else "",
        caution="" if scale.verdicts else _CAUTION,
        answers=escape(_answers(outcomes)),
        claims=table(_CLAIM_HEADINGS, map(_claim_cells, judged)),
        experiments="\n".join(_experiments(figures, plots)),
        settings=table(("what", "the thesis", "here"), _settings(scale, cores)),
        missing=table(("what", "why"), _missing(outcomes)),
        machine=table(("what", "which"), ((k, escape(v)) for k, v in machine_facts().items())),
    )
    path.write_text(document("Geocast: the thesis's experiments", body), encoding="utf-8")


def _answers(outcomes: Outcomes) -> str:
    differing = outcomes.differing()
    if not differing:
        workloads = len({setting.recipe for setting in outcomes.found})
        return (
            f"All {len(outcomes.found):,} measurements on {workloads} workloads gave the same "
            f"matches as {REFERENCE} on the same workload."
        )
    told = "; ".join(map(str, differing))
    return f"{len(differing):,} measurements gave other matches than {REFERENCE}: {told}"


def _claim_cells(one: Judged) -> tuple[str, ...]:
    said = f'{escape(one.claim.text)}<br><span class="rule">{escape(one.claim.rule)}</span>'
    verdict = f'<span class="{_CLASSES.get(one.word, "open")}">{one.word}</span>'
    return one.claim.experiment, said, escape(one.found), verdict


def _experiments(figures: Sequence[Figure], plots: Mapping[str, Path]) -> Iterable[str]:
    for name, title in EXPERIMENTS.items():
        own = [figure for figure in figures if figure.experiment == name]
        if own:
            drawn = [picture(plots[f.number]) for f in own if f.number in plots]
            pictures = f'<div class="figures">{"".join(drawn)}</div>' if drawn else ""
            yield f"<h2>{name}: {escape(title)}</h2>{pictures}"


def _settings(scale: Scale, cores: int) -> Iterable[tuple[str, str, str]]:
    yield "publications", "10,000", f"{scale.pubs:,}"
    yield "subscriptions", "10,000", f"{scale.subs:,}"
    yield "partitions of the subscriptions", "100", f"{scale.cells:,}"
    yield "executors", "32 of 3 cores and 24 GB", f"one of {cores} cores, {DRIVER_MEMORY} for Java"
    if scale.java:
        yield "options of Java", "", scale.java
    yield "cluster", "16 machines of 8 cores and 64 GB", "this machine"
    yield "concurrent jobs", "4, over Kafka", "1 batch; several streams in G"
    batches = f"{scale.micro_batches} files in G, quarters of a topic in H"
    yield "micro-batches", "1 s", f"{batches}, as fast as they can be taken"
    yield "geometries", "postcodes of the United Kingdom", "postcodes of Great Britain"
    edges = f", no edge over {scale.densify} degrees" if scale.densify else ""
    yield "workers for memory", "32 executors", f"{scale.workers} Python workers, on all cores"
    yield "geometries for memory", "the same", f"the same, but none repeats{edges}"


def _missing(outcomes: Outcomes) -> Iterable[tuple[str, str]]:
    for setting, reason in (outcomes.impossible | outcomes.failed).items():
        yield escape(str(setting)), escape(reason)
