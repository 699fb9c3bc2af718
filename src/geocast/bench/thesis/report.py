"""Everything that a run leaves behind: rows, verdicts, pictures, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from geocast.bench.thesis.claims import Judged, judge_claims
from geocast.bench.thesis.evidence import Evidence
from geocast.bench.thesis.figures import Figure
from geocast.bench.thesis.outcomes import Outcomes, rows, write_rows
from geocast.bench.thesis.page import write_page
from geocast.bench.thesis.plots import plot_figures
from geocast.bench.thesis.scale import Scale

__all__ = ["write_thesis_report"]


def write_thesis_report(
    figures: Sequence[Figure],
    outcomes: Outcomes,
    scale: Scale,
    cores: int,
    directory: Path,
    command: str,
) -> list[Judged]:
    """Write results.parquet, claims.parquet, figures and index.html; return the verdicts."""
    told = rows(figures, outcomes)
    judged = judge_claims(Evidence(told))
    write_rows(told, directory / "results.parquet")
    write_rows([_row(one) for one in judged], directory / "claims.parquet")
    plots = plot_figures(figures, Evidence(told), directory / "figures")
    page = directory / "index.html"
    write_page(page, figures, outcomes, judged, plots, scale, cores, command)
    return judged


def _row(one: Judged) -> dict[str, str]:
    claim = one.claim
    return {
        "experiment": claim.experiment,
        "claim": claim.text,
        "rule": claim.rule,
        "verdict": one.word,
        "found": one.found,
    }
