"""Every figure of chapter 8, in the sizes of a scale and on the cores of this machine."""

from __future__ import annotations

from collections.abc import Sequence

from geocast.bench.thesis.comparisons import comparison_figures
from geocast.bench.thesis.families import family_figures
from geocast.bench.thesis.figures import EXPERIMENTS, Figure
from geocast.bench.thesis.scale import Scale
from geocast.bench.thesis.sizes import Sizes
from geocast.errors import UnknownNameError

__all__ = ["plan"]


def plan(
    scale: Scale, cores: int, only: Sequence[str] = (), *, sedona: bool = False
) -> list[Figure]:
    """Return the figures of all experiments, or of those named."""
    for name in only:
        if name not in EXPERIMENTS:
            raise UnknownNameError("experiment", name, EXPERIMENTS)
    sizes = Sizes(scale, cores)
    figures = [*family_figures(sizes), *comparison_figures(sizes, sedona)]
    return [figure for figure in figures if not only or figure.experiment in only]
