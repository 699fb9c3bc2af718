"""Answers compared by a digest of all their pairs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from geocast.bench.peers import Pairs
from geocast.bench.subject import pairs_of
from geocast.bench.thesis.workloads import Files
from geocast.model import MATCHES

__all__ = ["digest", "digest_of_files", "digest_of_pairs"]


def digest_of_files(out: Path, files: Files) -> tuple[int, str]:
    """Count the pairs in the Parquet files under a folder and return their digest."""
    tables = [pq.read_table(path).cast(MATCHES) for path in sorted(out.rglob("*.parquet"))]
    return digest(pa.concat_tables([MATCHES.empty_table(), *tables]), files)


def digest_of_pairs(pairs: pa.Table, files: Files) -> tuple[int, str]:
    """Count and digest a table of pairs, with a row for each."""
    rows = pc.index_in(pairs["publication"], value_set=files.publications["id"])
    found = pc.index_in(pairs["subscription"], value_set=files.subscriptions["id"])
    sides = (side.to_numpy().astype(np.int64) for side in (rows, found))
    return _digest(Pairs(*sides))


def digest(matches: pa.Table, files: Files) -> tuple[int, str]:
    """Count the pairs of a table of matches and return what is the same for the same pairs.

    A pair that is reported twice counts twice, and changes the digest.
    """
    return _digest(pairs_of(matches, files.publications, files.subscriptions))


def _digest(pairs: Pairs) -> tuple[int, str]:
    codes = pairs.codes()
    return len(codes), hashlib.sha256(codes.tobytes()).hexdigest()[:16]
