"""Experiments A to D: the variants within each algorithm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from geocast.bench.thesis.door import variant_names
from geocast.bench.thesis.figures import EXPERIMENTS, Cell, Figure
from geocast.bench.thesis.sizes import Sizes, Vary, family, labelled, taking_part

__all__ = ["family_figures"]

_CHOSEN_PARTITIONINGS = ("{QT}", "{KT}")
_FAMILIES = {"A": ("RIS", "sPS"), "B": ("sPIS",), "C": ("RIsPS",), "D": ("RIhPS",)}
_FIRST_FIGURE = {"A": 2, "B": 6, "C": 10, "D": 14}


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis that A to D share with the experiment that compares the representatives."""

    name: str
    experiment: str
    values: Sequence[float]
    usual: float | None
    vary: Vary


def family_figures(sizes: Sizes) -> Iterator[Figure]:
    """Yield a figure of all variants, and four for each algorithm."""
    names = variant_names()
    yield Figure(
        number="8.1",
        experiment="A",
        title="all variants at the default sizes",
        axis="variant",
        bars=True,
        cells=tuple(Cell(name, 0, "all defaults", sizes.batch(name)) for name in names),
    )
    for experiment, families in _FAMILIES.items():
        chosen = [name for name in names if _is_chosen(name, families)]
        for offset, axis in enumerate(_axes(sizes)):
            yield Figure(
                number=f"8.{_FIRST_FIGURE[experiment] + offset}",
                experiment=experiment,
                title=f"{EXPERIMENTS[experiment]} by {axis.name}",
                axis=axis.name,
                cells=tuple(_cells(sizes, chosen, axis)),
            )


def _axes(sizes: Sizes) -> list[_Axis]:
    scale = sizes.scale
    partitions = "partitions of the subscriptions"
    return [
        _Axis(partitions, "F", scale.partitions, scale.cells, sizes.with_cells),
        _Axis("cores", "J", sizes.core_counts, sizes.cores, sizes.with_cores),
        _Axis("subscriptions", "K", scale.subscriptions, scale.subs, sizes.with_subs),
        _Axis("concurrent streaming jobs", "G", scale.jobs, None, sizes.with_jobs),
    ]


def _cells(sizes: Sizes, names: Sequence[str], axis: _Axis) -> Iterator[Cell]:
    whole = axis.experiment in sizes.scale.whole_family
    along = names if whole else taking_part(sizes.scale, axis.experiment)
    for name in names:
        for value in axis.values:
            if name in along or value == axis.usual:
                yield Cell(name, value, labelled(value), axis.vary(sizes.batch(name), value))


def _is_chosen(name: str, families: Sequence[str]) -> bool:
    """Tell whether the thesis kept a variant after its first look at all of them."""
    return family(name) in families and ("{" not in name or name.endswith(_CHOSEN_PARTITIONINGS))
