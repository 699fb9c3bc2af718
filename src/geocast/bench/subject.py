"""Geocast as the subject of the benchmark: its index on disk, and its answers as pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geocast.bench.measure import timed
from geocast.bench.peers import Pairs
from geocast.bench.results import IndexFacts
from geocast.match.matcher import Matcher

__all__ = ["Subject", "pairs_of"]

_COMPILING_ROWS = 200


class Subject:
    """Geocast's index of a workload's subscriptions, built once and saved to a folder.

    Every repetition opens it anew, and so begins with nothing cached.
    """

    def __init__(self, workload: str, subscriptions: pa.Table, directory: Path) -> None:
        self._directory = directory
        # Building on a few first compiles the code; that is no part of the time of an index.
        Matcher(subscriptions.slice(0, _COMPILING_ROWS))
        matcher, build = timed(lambda: Matcher(subscriptions))
        matcher.save(directory)
        self.rejected = np.array([reject.row for reject in matcher.rejects], dtype=np.int64)
        del matcher
        _, opening = timed(self.open)
        self.facts = IndexFacts(
            workload,
            subscriptions.num_rows,
            len(self.rejected),
            build.cpu,
            build.wall,
            opening.wall,
            sum(file.stat().st_size for file in directory.rglob("*") if file.is_file()),
        )

    def open(self) -> Matcher:
        """Return a matcher over the saved index that has cached nothing yet."""
        return Matcher.open(self._directory)


def pairs_of(answer: pa.Table, publications: pa.Table, subscriptions: pa.Table) -> Pairs:
    """Turn a table of matches into pairs of row numbers; ids are unique in workloads."""
    lists = answer["subscriptions"].combine_chunks()
    rows = pc.index_in(answer["publication"], value_set=publications["id"]).to_numpy()
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    found = pc.index_in(pc.list_flatten(lists), value_set=subscriptions["id"])
    return Pairs(np.repeat(rows, sizes).astype(np.int64), found.to_numpy().astype(np.int64))
