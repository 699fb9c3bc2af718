"""What changes of subscriptions cost: a table on the terminal, and a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from rich.table import Table

from geocast.bench.report.figures import GRID, INK, save_figure
from geocast.bench.subscribe import CHANGES, Activation, summarised

__all__ = ["activation_table", "plot_activations"]

_HEADINGS = ("standing", "changes", "apply", "open", "match", "in all", "written", "of all", "")
_COLOURS = ("#0b6e4f", "#3fb68b", "#c98b2b")
_PEER = "#6b7f94"


def activation_table(found: Sequence[Activation]) -> Table:
    """Return medians: milliseconds until a change counts elsewhere, and what was written."""
    table = Table(title="From a change to its first match in another process: medians, ms")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right" if heading else "left")
    last = None
    for one in summarised(found):
        if last not in (None, one.standing):
            table.add_section()
        seconds = (one.apply_seconds, one.open_seconds, one.match_seconds, one.seconds)
        table.add_row(
            "" if one.standing == last else f"[bold]{one.standing:,}",
            f"{one.changes:,}",
            *(f"{1e3 * value:,.0f}" for value in seconds),
            _size(one.written),
            f"{one.written / max(one.standing_bytes, 1):.3%}",
            "[green]correct[/]" if one.correct else "[red]wrong[/]",
        )
        last = one.standing
    return table


def plot_activations(found: Sequence[Activation], stem: Path) -> list[Path]:
    """Draw delay and bytes written over the number of standing subscriptions."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    medians = summarised(found)
    _draw(left, medians, lambda one: 1e3 * one.seconds)
    _finish(left, "From a change to its first match", lambda value: f"{value:,.0f} ms")
    _draw(right, medians, lambda one: one.written)
    whole = {one.standing: one.standing_bytes for one in medians}
    style: dict[str, Any] = {"color": _PEER, "linestyle": (0, (4, 3)), "marker": "s"}
    right.plot(list(whole), list(whole.values()), label="all that stands", **style)
    _finish(right, "Bytes written", _size)
    right.legend(frameon=False, fontsize=9)
    return save_figure(figure, stem)


def _draw(axes: Any, medians: Sequence[Activation], value: Callable[[Activation], float]) -> None:
    for changes, colour in zip(CHANGES, _COLOURS, strict=True):
        own = [one for one in medians if one.changes == changes]
        label = f"{changes} change{'s' if changes > 1 else ''}"
        sizes, values = [one.standing for one in own], [value(one) for one in own]
        axes.plot(sizes, values, marker="o", color=colour, label=label)


def _finish(axes: Any, title: str, told: Callable[[float], str]) -> None:
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK)
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(low / 3, high * 3)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("standing subscriptions; both axes are logarithmic")
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _size(number: float) -> str:
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= size:
            return f"{number / size:,.3g} {unit}"
    return f"{number:,.0f} B"
