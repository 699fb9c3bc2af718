"""How uneven partitions are, hour by hour: a table on the terminal, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from matplotlib.figure import Figure
from rich.table import Table

from geocast.bench.adaptive import Hour
from geocast.bench.report.figures import GRID, INK, save_figure

__all__ = ["adaptive_table", "plot_adaptive"]

_LIMIT = 2.0
_FOLLOWING, _STAYING = "#0b6e4f", "#c98b2b"


def adaptive_table(found: Sequence[Hour]) -> Table:
    """Return the share of the slowest partition in each hour, in means of all partitions."""
    table = Table(title="The slowest partition's time, in means of all partitions")
    for heading in ("hour", "publications", "pairs", "staying", "following", "made anew"):
        table.add_column(heading, justify="right")
    for one in found:
        colour = "green" if one.following < _LIMIT else "red"
        table.add_row(
            str(one.hour),
            f"{one.publications:,}",
            f"{one.pairs:,}",
            f"{one.staying:.2f}",
            f"[{colour}]{one.following:.2f}[/]",
            str(one.made_anew),
        )
    table.add_section()
    middle = [median(getattr(one, name) for one in found) for name in ("staying", "following")]
    made = sum(one.made_anew for one in found)
    table.add_row("median", "", "", *(f"{value:.2f}" for value in middle), str(made))
    return table


def plot_adaptive(found: Sequence[Hour], stem: Path) -> list[Path]:
    """Draw both over the hours of the day."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    hours = [one.hour for one in found]
    axes.axhline(_LIMIT, color=GRID, linestyle=(0, (4, 3)))
    axes.plot(hours, [one.staying for one in found], marker="s", color=_STAYING, label="staying")
    following = [one.following for one in found]
    axes.plot(hours, following, marker="o", color=_FOLLOWING, label="following the load")
    title = "Time of the slowest partition, in means of all"
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=INK)
    axes.set_xlabel("hour of the day")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9)
    return save_figure(figure, stem)
