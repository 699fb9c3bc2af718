"""The results as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from geocast.bench.machine import machine_facts
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

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Geocast benchmark</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #24303c; margin: 2rem auto; max-width: 72rem;
       padding: 0 1rem; }}
h1 {{ font-size: 1.7rem; margin-bottom: 0; }}
h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.9rem; }}
th, td {{ text-align: left; padding: 0.3rem 0.7rem; border-bottom: 1px solid #e3e8ed;
         font-variant-numeric: tabular-nums; }}
th {{ border-bottom: 2px solid #24303c; }}
.pass {{ color: #0b6e4f; font-weight: 600; }}
.fail {{ color: #c0392b; font-weight: 600; }}
img {{ max-width: 100%; height: auto; }}
code {{ background: #f2f5f7; padding: 0.15rem 0.4rem; border-radius: 4px; }}
.wide {{ overflow-x: auto; }}
</style>
</head>
<body>
<h1>Geocast benchmark</h1>
<p>Made by <code>{command}</code>. Rates are medians and count whole batches: decoding, matching
and building the answer; each engine has one thread and its CPU seconds count, except on Spark,
which has two cores and the clock on the wall. Peers answer with row numbers only; a slow peer
matches the first part of the publications. Answers are compared with Geocast's pair by pair.</p>
<h2>Targets</h2>
<div class="wide">{targets}</div>
<h2>Rates</h2>
<div class="wide">{rates}</div>
<h2>Index</h2>
<div class="wide">{indexes}</div>
<h2>Pictures</h2>
{pictures}
<h2>Machine</h2>
<div class="wide">{machine}</div>
</body>
</html>
"""


def write_page(
    path: Path, results: Results, judged: Sequence[Verdict], plots: Iterable[Path], command: str
) -> None:
    """Write the page, with the SVG plots inside."""
    pictures = [_picture(plot) for plot in plots if plot.suffix == ".svg"]
    page = _PAGE.format(
        command=escape(command),
        targets=_table(TARGET_HEADINGS, map(_target_cells, judged)),
        rates=_table(RATE_HEADINGS, (map(escape, row) for row in rate_rows(results))),
        indexes=_table(_INDEX_HEADINGS, _index_rows(results)),
        pictures="\n".join(pictures),
        machine=_table(("what", "which"), ((k, escape(v)) for k, v in machine_facts().items())),
    )
    path.write_text(page, encoding="utf-8")


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


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


def _picture(plot: Path) -> str:
    data = b64encode(plot.read_bytes()).decode("ascii")
    return f'<img alt="{plot.stem}" src="data:image/svg+xml;base64,{data}">'
