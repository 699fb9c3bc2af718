"""What all pictures share."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["GRID", "INK", "save_figure"]

INK, GRID = "#24303c", "#d9dfe5"


def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write a picture as SVG and PNG and return the files."""
    paths = [stem.with_suffix(suffix) for suffix in (".svg", ".png")]
    for path in paths:
        figure.savefig(path, dpi=150, facecolor="white")
    return paths
