"""The results as pictures: rates by workload and engine, and how far targets were reached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from geocast.bench.report.figures import GRID, INK, save_figure
from geocast.bench.results import Results
from geocast.bench.targets import Verdict

__all__ = ["plot_rates", "plot_targets"]

_GEOCAST_COLOURS = ("#0b6e4f", "#3fb68b", "#8fd6b8")
_PEER_COLOURS = ("#33475b", "#6b7f94", "#c98b2b", "#b4532a", "#7d5ba6", "#a3adb8")
_PASSED, _FAILED = "#0b6e4f", "#c0392b"


def plot_rates(results: Results, stem: Path) -> list[Path]:
    """Draw a bar for every engine of every workload, on a logarithmic scale."""
    workloads, engines = results.workloads(), results.engines()
    figure = Figure(figsize=(10, 1.6 + 0.24 * _bars(results)), layout="constrained")
    axes = figure.subplots()
    colours = _colours(engines)
    place, ticks = 0.0, []
    for workload in workloads:
        present = results.engines(workload)
        for offset, engine in enumerate(present):
            rate = results.rate(workload, engine) or 0.0
            axes.barh(place + offset, rate, 0.86, color=colours[engine])
            axes.text(rate * 1.08, place + offset, _short(rate), va="center", fontsize=7.5)
        ticks.append(place + (len(present) - 1) / 2)
        place += len(present) + 1
    axes.set_yticks(ticks, workloads, fontsize=10, fontweight="bold")
    axes.invert_yaxis()
    axes.set_xscale("log")
    rates = [measurement.rate for measurement in results.measurements]
    axes.set_xlim(min(rates, default=1) / 3, max(rates, default=1) * 3)
    axes.set_xlabel("publications a second (logarithmic)")
    _finish(axes, "Matching rate by workload and engine")
    handles = [Patch(color=colours[engine], label=engine) for engine in engines]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    return save_figure(figure, stem)


def plot_targets(judged: Sequence[Verdict], stem: Path) -> list[Path]:
    """Draw how far each target was reached: 1 is the target, to the right is better."""
    figure = Figure(figsize=(10, 1.6 + 0.42 * max(1, len(judged))), layout="constrained")
    axes = figure.subplots()
    for place, verdict in enumerate(judged):
        reached = _reached(verdict)
        axes.barh(place, reached, 0.7, color=_PASSED if verdict.passed else _FAILED)
        label = f"{verdict.found}, target {verdict.target}"
        axes.text(max(reached, 1) * 1.06, place, label, va="center", fontsize=8.5)
    names = [f"{verdict.workload}: {verdict.what}" for verdict in judged]
    axes.set_yticks(range(len(judged)), names, fontsize=9)
    axes.invert_yaxis()
    axes.axvline(1, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.set_xscale("log")
    shares = [1.0, *map(_reached, judged)]
    axes.set_xlim(min(shares) / 3, max(shares) * 30)
    axes.set_xlabel("share of the target that was reached (logarithmic); the line is the target")
    _finish(axes, "Targets")
    return save_figure(figure, stem)


def _reached(verdict: Verdict) -> float:
    if verdict.unit == "x":
        return verdict.value / verdict.bound
    return verdict.bound / max(verdict.value, 1e-9)


def _bars(results: Results) -> int:
    return sum(len(results.engines(workload)) + 1 for workload in results.workloads())


def _colours(engines: Sequence[str]) -> dict[str, str]:
    own = [engine for engine in engines if engine.startswith("geocast")]
    others = [engine for engine in engines if engine not in own]
    return {engine: _GEOCAST_COLOURS[i % 3] for i, engine in enumerate(own)} | {
        engine: _PEER_COLOURS[i % 6] for i, engine in enumerate(others)
    }


def _short(rate: float) -> str:
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{letter}"
    return f"{rate:.3g}"


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
