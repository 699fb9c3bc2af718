"""A version of all subscriptions, opened to match batches of publications with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from geocast.errors import StateError
from geocast.match.columns import string_ids
from geocast.snapshot.layout import Layout, Version
from geocast.snapshot.numbers import Numbers, in_sorted
from geocast.snapshot.opened import OpenPart, empty_part, open_parts
from geocast.snapshot.part import label_of

__all__ = ["OpenVersion", "SnapshotAnswer", "SnapshotMatcher"]


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotAnswer:
    """What a batch matched: row[k] matches subscription version vnumber[k], sorted by both.

    `rejected` lists (row, id or None, reason) of the publications that could not be used.
    """

    row: Numbers
    vnumber: Numbers
    rejected: list[tuple[int, str | None, str]]


@dataclass(frozen=True, slots=True, eq=False)
class OpenVersion:
    """Where the parts of a version lie: those that are `divided`, those that are `whole`.

    `removed` are the numbers that parts hold though they stand no more, sorted.
    """

    version: Version
    divided: tuple[Path, ...]
    whole: tuple[Path, ...]
    removed: Numbers

    @classmethod
    def read(cls, directory: Path, version: int) -> OpenVersion:
        """Find a version. Raises StateError where it, or something that it names, is missing."""
        layout = Layout(Path(directory))
        found = layout.read(version)
        layout.check(found)
        paths = [layout.parts / name for name in found.parts]
        divided = tuple(path for path in paths if label_of(path.name) is not None)
        whole = tuple(path for path in paths if label_of(path.name) is None)
        return cls(found, divided, whole, layout.removed(found))


class SnapshotMatcher:
    """Matches publications with a version of all subscriptions that has no divided parts."""

    def __init__(self, version: Version, parts: Sequence[OpenPart], removed: Numbers) -> None:
        self.version = version
        self._parts = parts
        self._removed = removed
        self._properties = frozenset[str]().union(*(part.properties for part in parts))

    @classmethod
    def open(cls, directory: Path, version: int) -> SnapshotMatcher:
        """Open a version; its parts are memory-mapped, and shared within this process.

        Raises StateError where the version, or something that it names, is not there, and where
        parts of it are divided.
        """
        found = OpenVersion.read(directory, version)
        if found.divided:
            raise StateError(f"parts of version {version} are divided: it is matched on Spark only")
        parts = open_parts(found.whole)
        return cls(found.version, parts or [empty_part()], found.removed)

    @property
    def properties(self) -> frozenset[str]:
        """The names of the attributes that filters use; other columns need not be passed."""
        return self._properties

    def __len__(self) -> int:
        """Return the number of subscriptions that stand in this version."""
        return self.version.count

    def answer(self, batch: pa.RecordBatch) -> SnapshotAnswer:
        """Match a batch with columns `id`, `geometry` (WKB) and attributes.

        Ids may repeat. Raises InputError where a column is missing or of the wrong type.
        """
        answers = [part.answer(batch) for part in self._parts]
        row = np.concatenate([rows for rows, _, _ in answers])
        vnumber = np.concatenate([numbers for _, numbers, _ in answers])
        keep = ~in_sorted(self._removed, vnumber)
        row, vnumber = row[keep], vnumber[keep]
        order = np.lexsort((vnumber, row))
        # What cannot be used is the same for every part.
        reasons = sorted(answers[0][2].items())
        ids = string_ids(batch, "publications") if reasons else None
        rejected = [(at, ids.text(at) if ids else None, reason) for at, reason in reasons]
        return SnapshotAnswer(row[order], vnumber[order], rejected)
