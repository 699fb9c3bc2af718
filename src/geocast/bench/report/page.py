"""The results as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from geocast.bench.machine import machine_facts
from geocast.bench.report.html import document, picture, table
from geocast.bench.report.tables import RATE_HEADINGS, TARGET_HEADINGS, rate_rows
from geocast.bench.results import Results
from geocast.bench.targets import Verdict

__all__ = ["write_page"]

_INDEX_HEADINGS = (
    "workload",
    "subscriptions",
    "rejected",
    "build, CPU s",
    "open, ms",
    "size, MB",
    "bytes each",
)

_BODY = """<h1>Geocast benchmark</h1>
<p>Made by <code>{command}</code>. Rates are medians and count whole batches: decoding, matching
and building the answer; each engine has one thread and its CPU seconds count, except on Spark,
which has two cores and the clock on the wall. Peers answer with row numbers only; a slow peer
matches the first part of the publications. Answers are compared with Geocast's pair by pair.</p>
<h2>Targets</h2>
{targets}
<h2>Rates</h2>
{rates}
<h2>Index</h2>
{indexes}
<h2>Pictures</h2>
{pictures}
<h2>Machine</h2>
{machine}
"""


def write_page(
    path: Path, results: Results, judged: Sequence[Verdict], plots: Iterable[Path], command: str
) -> None:
    """Write the page, with the SVG plots inside."""
    pictures = [picture(plot) for plot in plots if plot.suffix == ".svg"]
    body = _BODY.format(
        command=escape(command),
        targets=table(TARGET_HEADINGS, map(_target_cells, judged)),
        rates=table(RATE_HEADINGS, (map(escape, row) for row in rate_rows(results))),
        indexes=table(_INDEX_HEADINGS, _index_rows(results)),
        pictures="\n".join(pictures),
        machine=table(("what", "which"), ((k, escape(v)) for k, v in machine_facts().items())),
    )
    path.write_text(document("Geocast benchmark", body), encoding="utf-8")


def _target_cells(verdict: Verdict) -> tuple[str, ...]:
    word = "pass" if verdict.passed else "fail"
    said = (verdict.workload, verdict.what, verdict.found, verdict.target)
    return *map(escape, said), f'<span class="{word}">{word}</span>'


def _index_rows(results: Results) -> Iterable[tuple[str, ...]]:
    for facts in results.indexes:
        yield (
            facts.workload,
            f"{facts.subscriptions:,}",
            f"{facts.rejected:,}",
            f"{facts.build_cpu_seconds:.2f}",
            f"{facts.open_seconds * 1e3:.1f}",
            f"{facts.bytes / 1e6:,.1f}",
            f"{facts.bytes_per_subscription:,.0f}",
        )
