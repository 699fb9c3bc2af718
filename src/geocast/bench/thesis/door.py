"""The one place where the experiments meet the algorithms."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from geocast import files
from geocast.pipeline import (
    REPRESENTATIVES,
    Algorithm,
    make_algorithm,
    open_publications,
    run_job,
    variant_names,
)
from geocast.pipeline.frames import project, read_frame
from geocast.pipeline.splits import SplitReader, split_frame
from geocast.pipeline.tables import MatchRows
from geocast.pipeline.tally import reject_tally

__all__ = [
    "REPRESENTATIVES",
    "Algorithm",
    "match_file",
    "matched",
    "matched_files",
    "prepared",
    "variant_names",
]


def prepared(engine: str, subscriptions: pa.Table, cells: int) -> Algorithm:
    """Build what an algorithm needs of the subscriptions; `cells` is 0 where it has none."""
    return make_algorithm(engine, subscriptions, cells=max(1, cells))


def matched(algorithm: Algorithm, publications: DataFrame) -> DataFrame:
    """Return the matches of a DataFrame, batch or streaming, lazily."""
    frame = project(publications, algorithm.properties)
    write = MatchRows(reject_tally(frame.sparkSession.sparkContext))
    return algorithm.run(frame, read_frame, write)


def matched_files(session: SparkSession, algorithm: Algorithm, publications: Path) -> DataFrame:
    """Return the matches of Parquet that workers read themselves, lazily."""
    opened = open_publications(publications, algorithm.properties, publications, lambda _: None)
    splits = opened.split_for(session)
    write = MatchRows(reject_tally(session.sparkContext))
    return algorithm.run(split_frame(session, splits), SplitReader(splits), write, len(splits))


def match_file(
    session: SparkSession, algorithm: Algorithm, publications: Path, pieces: Path, out: Path
) -> None:
    """Match publications in Parquet as `geocast match` does; `pieces` is a folder for tasks."""
    opened = open_publications(publications, algorithm.properties, pieces, lambda _: None)
    splits = opened.split_for(session)
    found = run_job(session, algorithm, splits, pieces, lambda _: None)
    files.write_matches(out, chain.from_iterable(piece.matches() for piece in found))
