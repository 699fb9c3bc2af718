"""A version of all subscriptions, opened to match batches of publications with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from geocast.snapshot.batch import Batch
from geocast.snapshot.layout import Layout, Version
from geocast.snapshot.numbers import Numbers, in_sorted
from geocast.snapshot.opened import OpenPart, empty_part, open_parts

__all__ = ["SnapshotAnswer", "SnapshotMatcher"]


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotAnswer:
    """What a batch matched: row[k] matches subscription version vnumber[k], sorted by both.

    `rejected` lists (row, id or None, reason) of the publications that could not be used.
    """

    row: Numbers
    vnumber: Numbers
    rejected: list[tuple[int, str | None, str]]


class SnapshotMatcher:
    """Matches publications with one version of all subscriptions."""

    def __init__(self, version: Version, parts: Sequence[OpenPart], removed: Numbers) -> None:
        self.version = version
        self._parts = parts
        self._removed = removed
        self._properties = frozenset[str]().union(*(part.properties for part in parts))

    @classmethod
    def open(cls, directory: Path, version: int) -> SnapshotMatcher:
        """Open a version; its parts are memory-mapped, and shared within this process.

        Raises StateError where the version, or something that it names, is not there.
        """
        layout = Layout(Path(directory))
        found = layout.read(version)
        layout.check(found)
        parts = open_parts([layout.parts / name for name in found.parts])
        return cls(found, parts or [empty_part()], layout.removed(found))

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
        prepared = Batch(batch)
        answers = [part.answer(prepared) for part in self._parts]
        pairs = [pair for found, _ in answers for pair in found]
        row = _joined([rows for rows, _ in pairs])
        vnumber = _joined([numbers for _, numbers in pairs])
        keep = ~(in_sorted(self._removed, vnumber) | prepared.nameless[row])
        row, vnumber = row[keep], vnumber[keep]
        order = np.lexsort((vnumber, row))
        # What cannot be used is the same for every part.
        return SnapshotAnswer(row[order], vnumber[order], prepared.rejected(answers[0][1]))


def _joined(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
