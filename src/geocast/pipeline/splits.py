"""An input file of publications as splits: the parts that Spark tasks read on their own.

Workers read Parquet in place, each its own range of rows, with the same reader as in-process
matching, so that ids, types and rejects are the same everywhere. GeoJSON can only be read from
its beginning: the driver reads it once, chunk by chunk, into Arrow files that workers map.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from itertools import pairwise
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from geocast import files
from geocast.errors import InputError
from geocast.files import Chunk
from geocast.model import Reject, Rejects, Side
from geocast.pipeline.base import TASKS_A_CORE

__all__ = [
    "ParquetSplit",
    "PublicationFile",
    "Split",
    "SplitReader",
    "SpooledSplit",
    "open_publications",
    "split_frame",
]

_SPOOLED_ROWS = 8_192
"""Rows a spooled file: few enough that a small input still keeps several workers busy."""

_BALANCED: Final = 1.1
"""How much longer the busiest core may read than if all had the same: less than reading twice."""


class Split(Protocol):
    """A part of an input that one task reads."""

    def chunks(self) -> Iterator[Chunk]:
        """Read it, in the worker."""
        ...


@dataclass(frozen=True, slots=True)
class SplitReader:
    """Reads the splits whose numbers a DataFrame of `id`s lists."""

    splits: Sequence[Split]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """Yield the chunks of the splits of one partition."""
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from self.splits[number].chunks()


def split_frame(session: SparkSession, splits: Sequence[Split]) -> DataFrame:
    """Return a DataFrame with the numbers of the splits, each a task of its own."""
    return session.range(0, len(splits), 1, len(splits))


@dataclass(frozen=True, slots=True)
class ParquetSplit:
    """A range of rows of a Parquet input."""

    path: str
    rows: range
    columns: tuple[str, ...]
    duplicates: NDArray[np.int64]
    stamp: str

    def chunks(self) -> Iterator[Chunk]:
        """Read only these rows and columns; raises InputError if they are others by now."""
        side: Side = "publications"
        if files.stamp(self.path) != self.stamp:
            raise InputError(f"{self.path}: has changed since its rows were counted")
        for chunk in files.read(self.path, side, columns=self.columns, rows=self.rows):
            yield files.reject_duplicates(chunk, side, self.duplicates)


@dataclass(frozen=True, slots=True)
class SpooledSplit:
    """Chunks that the driver has read and put into files."""

    paths: tuple[str, ...]

    def chunks(self) -> Iterator[Chunk]:
        """Map the files into memory, one after the other."""
        return map(_load, self.paths)


@dataclass(frozen=True, slots=True)
class PublicationFile:
    """An input of publications, made ready to be split.

    `spooled` lists the chunks that the driver has put into files, or is None for Parquet, which
    workers read in place; `groups` has the rows of each of its row groups. `duplicates` are the
    rows, in order, whose id has occurred before. All that is known belongs to the files as they
    were at their `stamp`.
    """

    path: str
    columns: tuple[str, ...]
    duplicates: NDArray[np.int64]
    groups: Sequence[int]
    spooled: tuple[str, ...] | None
    stamp: str

    def split(self, tasks: int) -> list[Split]:
        """Cut the input into `tasks` splits of like size, in order; fewer where it is small."""
        if self.spooled is None:
            return self._ranges(_cuts(sum(self.groups), tasks))
        return [
            SpooledSplit(self.spooled[low:high])
            for low, high in pairwise(_cuts(len(self.spooled), tasks))
        ]

    def split_for(self, session: SparkSession, tasks: int | None = None) -> list[Split]:
        """Cut the input into `tasks` splits; without that, as suits the session's cores.

        That is a few for each core, so that none waits long for the last of another; and between
        row groups where these leave no core idle for long, since who wants a part of a row group
        decodes more of it than that part.
        """
        cores = int(session.sparkContext.defaultParallelism)
        usual = tasks or TASKS_A_CORE * cores
        if tasks is None and any(self.groups):
            between = _snapped(_cuts(sum(self.groups), usual), self.groups)
            if _longest(between, cores) <= _BALANCED * sum(self.groups) / cores:
                return self._ranges(between)
        return self.split(usual)

    def _ranges(self, edges: Sequence[int]) -> list[Split]:
        return [self._range(low, high) for low, high in pairwise(edges)]

    def _range(self, low: int, high: int) -> Split:
        first, last = np.searchsorted(self.duplicates, (low, high))
        mine = self.duplicates[first:last]
        return ParquetSplit(self.path, range(low, high), self.columns, mine, self.stamp)


def open_publications(
    path: str | Path, columns: Collection[str], folder: Path, watch: Callable[[int], None]
) -> PublicationFile:
    """Make an input of publications ready; raises InputError where it cannot be used.

    Of the attributes, only `columns` are read. GeoJSON is read here, and put into `folder`;
    `watch` is told how many bytes of it have been read.
    """
    where, wanted = str(Path(path).absolute()), tuple(sorted(columns))
    stamp = files.stamp(path)
    groups = files.row_groups(path, "publications")
    duplicates = files.duplicate_rows(path, "publications")
    if groups is not None:
        return PublicationFile(where, wanted, duplicates, groups, None, stamp)
    spooled = tuple(_spool(path, wanted, duplicates, folder, watch))
    return PublicationFile(where, wanted, duplicates, (), spooled, stamp)


def _spool(
    path: str | Path,
    columns: Collection[str],
    duplicates: NDArray[np.int64],
    folder: Path,
    watch: Callable[[int], None],
) -> Iterator[str]:
    chunks = files.read(path, "publications", columns=columns, batch_rows=_SPOOLED_ROWS)
    for number, chunk in enumerate(chunks):
        saved = str(folder / f"{number:06d}.chunk.arrow")
        _save(files.reject_duplicates(chunk, "publications", duplicates), saved)
        watch(chunk.position)
        yield saved


def _cuts(total: int, parts: int) -> list[int]:
    edges = np.linspace(0, total, max(min(parts, total), 1) + 1).astype(int)
    cuts: list[int] = edges.tolist()
    return cuts


def _snapped(edges: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Move each cut to where the nearest row group ends; cuts that meet there are one."""
    ends = np.concatenate([[0], np.cumsum(groups)]).astype(int)
    above = np.clip(np.searchsorted(ends, edges), 1, len(ends) - 1)
    near = np.array(edges) - ends[above - 1] <= ends[above] - np.array(edges)
    cuts: list[int] = np.unique(np.where(near, ends[above - 1], ends[above])).tolist()
    return cuts


def _longest(edges: Sequence[int], cores: int) -> int:
    """Return how many rows the busiest core reads if each takes the next split when it is free."""
    busy = [0] * cores
    heapify(busy)
    for low, high in pairwise(edges):
        heapreplace(busy, busy[0] + high - low)
    return max(busy)


def _save(chunk: Chunk, path: str) -> None:
    """Write two Arrow streams into one file: the batch behind its row numbers, the rejects."""
    located = chunk.batch.add_column(0, "row", pa.array(chunk.rows, pa.int64()))
    rejects = Rejects(list(chunk.rejects)).to_table()
    with pa.OSFile(path, "wb") as sink:
        with pa.ipc.new_stream(sink, located.schema) as stream:
            stream.write_batch(located)
        with pa.ipc.new_stream(sink, rejects.schema) as stream:
            stream.write_table(rejects)


def _load(path: str) -> Chunk:
    with pa.memory_map(path) as source:
        [located] = pa.ipc.open_stream(source)
        rejects = pa.ipc.open_stream(source).read_all()
    batch = pa.RecordBatch.from_arrays(located.columns[1:], schema=located.schema.remove(0))
    records = tuple(Reject(**record) for record in rejects.to_pylist())
    return Chunk(batch, located.column(0).to_numpy(), records)
