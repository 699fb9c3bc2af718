"""The results for people: a table on the terminal, plots, and one page that stands alone."""

from __future__ import annotations

from pathlib import Path

from geocast.bench.report.page import write_page
from geocast.bench.report.plots import plot_rates, plot_targets
from geocast.bench.report.tables import rate_table, target_table
from geocast.bench.results import Results
from geocast.bench.targets import verdicts

__all__ = ["rate_table", "target_table", "write_report"]


def write_report(results: Results, directory: Path, command: str) -> list[Path]:
    """Write Parquet, plots (PNG and SVG) and the page; return the files for people to open."""
    results.write(directory)
    judged = verdicts(results)
    plots = [
        *plot_rates(results, directory / "rates"),
        *plot_targets(judged, directory / "targets"),
    ]
    page = directory / "index.html"
    write_page(page, results, judged, plots, command)
    return [page, *plots]
