"""What the algorithms are compared with in section 8.4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from geocast.bench.thesis.door import REPRESENTATIVES
from geocast.bench.thesis.figures import Cell
from geocast.bench.thesis.setting import Setting
from geocast.bench.thesis.sizes import Sizes, labelled

__all__ = [
    "CENTRAL",
    "JOINED",
    "MATCH",
    "PLAIN",
    "SEDONA",
    "UNIQUE",
    "join_cells",
    "overhead_cells",
    "rival_cells",
]

CENTRAL = {"CEN": "cells", "CEN[ST]": "strtree", "CEN[QT]": "quadtree", "CEN[HT]": "hprtree"} | {
    "CEN[MG]": "multigrid"
}
"""One process without Spark, with the index in brackets; without brackets it is Geocast's own."""

PLAIN = {f"CEN plain {name[3:]}": index for name, index in CENTRAL.items() if name != "CEN"}
"""The same, with the plain predicate on every candidate of the index, as in the thesis."""

JOINED = ("sPS{QT}", "sPIS[QT]{QT}")
"""What Sedona has too."""

SEDONA = tuple(f"Sedona {name}" for name in JOINED)
"""Spatial joins of Apache Sedona: by its quadtree cells, and with a quadtree in each of them."""


MATCH = "RIS, files"
"""RIS where workers read files and write files, as those of `geocast match` do."""

UNIQUE = ", unique"
"""What stands behind the name of a series whose polygons never repeat."""


def overhead_cells(sizes: Sizes) -> Iterator[Cell]:
    """Yield RIS on Spark and the same core in threads, on all cores, by publications."""
    settings = {
        "RIS": sizes.batch("RIS"),
        MATCH: sizes.batch("RIS", "match"),
        "CEN": _threads(sizes.batch("CEN", "threads"), sizes.cores),
    }
    for name, setting in settings.items():
        for series, own in ((name, setting), (f"{name}{UNIQUE}", sizes.with_unique(setting))):
            for count in sizes.scale.overhead:
                yield Cell(series, count, labelled(count), sizes.with_pubs(own, count))


def rival_cells(sizes: Sizes) -> Iterator[Cell]:
    """Yield Spark, and one process, by cores."""
    for cores in sizes.core_counts:
        for name in ("RIS", *REPRESENTATIVES):
            yield _cell(sizes.with_cores(sizes.batch(name), cores))
        for name in CENTRAL:
            yield _cell(_threads(sizes.batch(name, "threads"), cores))
    for name in PLAIN:
        yield _cell(_threads(sizes.batch(name, "plain"), sizes.cores))


def join_cells(sizes: Sizes, sedona: bool) -> Iterator[Cell]:
    """Yield sPS and sPIS, and by Sedona where it is asked for, with what it does in minutes."""
    settings = [sizes.batch(name) for name in JOINED]
    settings += [sizes.batch(name, "sedona") for name in SEDONA if sedona]
    count = sizes.scale.sedona
    for setting in settings:
        yield Cell(setting.engine, 0, labelled(count), sizes.with_pubs(setting, count))


def _threads(setting: Setting, cores: int) -> Setting:
    return replace(setting, master=f"threads[{cores}]")


def _cell(setting: Setting) -> Cell:
    return Cell(setting.engine, setting.cores, f"{setting.cores}", setting)
