"""Partitionings for people: their cells as a picture, what they do as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from rich.table import Table

from geocast.bench.partitions import Spread
from geocast.bench.report.figures import INK, save_figure
from geocast.match.index.base import Boxes
from geocast.match.partition.base import centres, extent

__all__ = ["partition_table", "plot_partitions"]

_COLUMNS = 3
_DOT, _LINE = "#9aa7b4", "#111111"
_HEADINGS = (
    "",
    "partitioning",
    "cells",
    "empty",
    "times a subscription is placed",
    "partitions a publication goes to",
    "fullest / mean",
    "in overflow",
    "cut in",
)


def partition_table(found: Sequence[Spread]) -> Table:
    """Return a row for each method."""
    table = Table(title="Spatial partitionings of the subscriptions")
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading in _HEADINGS[:2] else "right")
    for one in found:
        table.add_row(
            one.method,
            one.title,
            f"{len(one.cut.cells):,}",
            f"{one.empty:,}",
            f"{one.placements:.2f}",
            f"{one.travels:.2f}",
            f"{one.fullest:.1f}",
            f"{one.in_overflow:.1%}",
            f"{1e3 * one.seconds:,.0f} ms",
        )
    return table


def plot_partitions(found: Sequence[Spread], subscriptions: Boxes, stem: Path) -> list[Path]:
    """Draw the cells of each method over the centres of the subscriptions."""
    rows = -(-len(found) // _COLUMNS)
    figure = Figure(figsize=(10.5, 5.4 * rows), layout="constrained")
    grid = figure.subplots(rows, _COLUMNS, squeeze=False)
    dots = centres(subscriptions)
    west, south, east, north = extent(subscriptions)[0]
    stretch = 1 / max(np.cos(np.radians((south + north) / 2)), 0.1)
    for axes, one in zip(grid.flat, found, strict=False):
        axes.scatter(*dots.T, s=1.2, color=_DOT, linewidths=0, rasterized=True)
        boxes = [Rectangle((x, y), e - x, n - y) for x, y, e, n in one.cut.cells]
        axes.add_collection(PatchCollection(boxes, facecolor="none", edgecolor=_LINE, lw=0.5))
        axes.set_title(f"{one.title} ({one.method})", loc="left", fontsize=11, color=INK)
        axes.set_xlim(west, east)
        axes.set_ylim(south, north)
        axes.set_aspect(stretch)
    for axes in grid.flat:
        axes.set_axis_off()
    return save_figure(figure, stem)
