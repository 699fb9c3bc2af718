"""A picture for each figure of the thesis, from the rows of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, NullFormatter

from geocast.bench.report.figures import GRID, INK
from geocast.bench.thesis.evidence import Evidence, MissingError
from geocast.bench.thesis.figures import Figure
from geocast.bench.thesis.rivals import MATCH, UNIQUE
from geocast.bench.thesis.sizes import family

__all__ = ["plot_figures"]

_COLOURS = {
    "RIS": "#0b6e4f",
    "RIsPS": "#2f6db5",
    "RIhPS": "#c98b2b",
    "sPIS": "#7d5ba6",
    "sPS": "#b4532a",
    MATCH: "#7fb800",
    "CEN": "#33475b",
    "CEN plain": "#a3adb8",
}
_OTHERS = "#c0392b"
_DECADE = 10
_SMALL_AND_SAME = {"svg.fonttype": "none", "svg.hashsalt": "geocast"}
_MARKERS = {"[HT]": "o", "[ST]": "s", "[QT]": "^", "[MG]": "D"}
_UNITS = {"rate": (1.0, "publications a second"), "latency": (1.0, "seconds")}
_MEGABYTES = (1e6, "MB a worker")


def plot_figures(figures: Sequence[Figure], evidence: Evidence, directory: Path) -> dict[str, Path]:
    """Draw every figure that has rows as SVG and return the files by number of figure."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for figure in figures:
        try:
            points = evidence.points(figure.number)
        except MissingError:
            continue
        path = directory / f"figure-{figure.number}.svg"
        with rc_context(_SMALL_AND_SAME):
            _draw(figure, points).savefig(path, facecolor="white", metadata={"Date": None})
        drawn[figure.number] = path
    return drawn


def _draw(figure: Figure, points: Sequence[tuple[str, float, float]]) -> Picture:
    size, unit = _UNITS.get(figure.quantity, _MEGABYTES)
    scaled = [(name, x, value / size) for name, x, value in points]
    names = list(dict.fromkeys(name for name, _, _ in points))
    tall = figure.number == "8.1"
    picture = Picture(figsize=(7.5, 1.2 + 0.17 * len(names) if tall else 4), layout="constrained")
    axes = picture.subplots()
    if tall:
        _ranked(axes, scaled, unit)
    elif figure.bars:
        _grouped(axes, figure, scaled, names, unit)
    else:
        _lines(axes, figure, scaled, names, unit)
    title = f"{figure.number}  {figure.title}"
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return picture


def _ranked(axes: Any, points: Sequence[tuple[str, float, float]], unit: str) -> None:
    """Draw a bar for each variant, the fastest on top."""
    for place, (name, _, value) in enumerate(sorted(points, key=lambda point: -point[2])):
        axes.barh(place, value, 0.8, color=_colour(name))
        axes.text(value, place, f" {name}", va="center", fontsize=6.5, color=INK)
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.margins(x=0.2, y=0.01)
    axes.set_xlabel(unit)


def _grouped(
    axes: Any,
    figure: Figure,
    points: Sequence[tuple[str, float, float]],
    names: Sequence[str],
    unit: str,
) -> None:
    """Draw a group of bars for each place on the axis."""
    width = 0.8 / len(names)
    for name, x, value in points:
        place = x + (names.index(name) - (len(names) - 1) / 2) * width
        axes.bar(place, value, width * 0.95, color=_colour(name))
    for name in names:
        axes.bar([0], [0], color=_colour(name), label=name)
    labels = {cell.x: cell.label for cell in figure.cells}
    axes.set_xticks(list(labels), list(labels.values()), fontsize=8, rotation=20)
    _finish(axes, figure, unit)


def _lines(
    axes: Any,
    figure: Figure,
    points: Sequence[tuple[str, float, float]],
    names: Sequence[str],
    unit: str,
) -> None:
    """Draw a line for each series, on logarithmic axes where values differ much."""
    for name in names:
        own = sorted((x, value) for series, x, value in points if series == name)
        axes.plot(*zip(*own, strict=True), label=name, **_style(name))
    labels = {cell.x: cell.label for cell in figure.cells}
    if figure.experiment != "M":
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    values = [value for _, _, value in points]
    if min(values) > 0 and max(values) > _DECADE * min(values):
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, 1.1 * max(*values, 1e-9))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_xticks(sorted(labels), [labels[x] for x in sorted(labels)])
    _finish(axes, figure, unit)


def _finish(axes: Any, figure: Figure, unit: str) -> None:
    axes.set_xlabel(figure.axis, fontsize=9)
    axes.set_ylabel(unit, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(color=GRID, linewidth=0.7)
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))


def _colour(name: str) -> str:
    return _COLOURS.get(family(name.removesuffix(UNIQUE)).strip(), _OTHERS)


def _style(name: str) -> dict[str, Any]:
    marker = next((sign for code, sign in _MARKERS.items() if code in name), "x")
    dashed = name.endswith(("{KT}", UNIQUE)) or name.startswith("CEN plain")
    return {
        "color": _colour(name),
        "marker": marker,
        "markersize": 4,
        "linewidth": 1.3,
        "linestyle": "--" if dashed else "-",
    }
