"""Workloads drawn once each, and their publications as the files that every engine reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.thesis.setting import NotMeasurableError, Setting
from geocast.bench.workload import Recipe, Workload, make

__all__ = ["Files", "Workloads", "write_parts"]

_SAMPLE = 1_000
_SHARE_OF_MEMORY = 0.2
_ROWS_A_GROUP = 100_000


@dataclass(frozen=True, slots=True)
class Files:
    """A workload: its tables, and where its publications lie; `parts` has `count` files.

    `warm` are other publications in files of their own, if there are any.
    """

    subscriptions: pa.Table
    publications: pa.Table
    warm: Path
    parts: Path


class Workloads:
    """Draws what settings ask for; keeps the last workload, since settings come in their order."""

    def __init__(self, folder: DataFolder, room: Path) -> None:
        self._folder = _Remembering(folder.path)
        self._room = room
        self._last: tuple[Recipe, int] | None = None
        self._drawn: Workload | None = None

    def files(self, setting: Setting) -> Files:
        """Return the workload of a setting; raises NotMeasurableError where memory is too small."""
        drawn = self._draw(setting.recipe, setting.warm)
        publications = drawn.publications.slice(0, setting.recipe.pubs)
        parts, warm = self._room / f"parts-{setting.files}", self._room / "warm"
        if not parts.exists():
            write_parts(publications, parts, setting.files)
        if not warm.exists():
            write_parts(
                drawn.publications.slice(setting.recipe.pubs), warm, 2 if setting.warm else 0
            )
        return Files(drawn.subscriptions, publications, warm, parts)

    def _draw(self, recipe: Recipe, warm: int) -> Workload:
        if self._drawn is None or self._last != (recipe, warm):
            self._check_size(recipe)
            shutil.rmtree(self._room, ignore_errors=True)
            self._drawn = make(replace(recipe, pubs=recipe.pubs + warm), self._folder)
            self._last = recipe, warm
        return self._drawn

    def _check_size(self, recipe: Recipe) -> None:
        if max(recipe.subs, recipe.pubs) <= 100 * _SAMPLE:
            return
        sample = make(replace(recipe, subs=_SAMPLE, pubs=_SAMPLE), self._folder)
        size = sample.subscriptions.nbytes / _SAMPLE * recipe.subs
        size += sample.publications.nbytes / _SAMPLE * recipe.pubs
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if size > _SHARE_OF_MEMORY * memory:
            raise NotMeasurableError(
                f"the tables of {recipe.subs:,} subscriptions and {recipe.pubs:,} publications "
                f"take {size / 2**30:.1f} GiB, more than a fifth of this machine's "
                f"{memory / 2**30:.0f} GiB"
            )


def write_parts(publications: pa.Table, directory: Path, count: int) -> None:
    """Write publications as so many files of like size."""
    directory.mkdir(parents=True)
    edges = np.linspace(0, publications.num_rows, count + 1).astype(int)
    for number, (low, high) in enumerate(pairwise(edges.tolist())):
        rows = publications.slice(low, high - low)
        pq.write_table(rows, directory / f"{number:04d}.parquet", row_group_size=_ROWS_A_GROUP)


class _Remembering(DataFolder):
    """Reads every file once, because many workloads are drawn from the same."""

    __slots__ = ()

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one of the files, or some of its columns."""
        return _table(self.path, name, None if columns is None else tuple(columns))

    def geometries(self, name: str) -> NDArray[Any]:
        """Read the geometries of one of the files, as shapely objects."""
        return _geometries(self.path, name)


@cache
def _table(path: Path, name: str, columns: tuple[str, ...] | None) -> pa.Table:
    return DataFolder(path).table(name, None if columns is None else list(columns))


@cache
def _geometries(path: Path, name: str) -> NDArray[Any]:
    return DataFolder(path).geometries(name)
