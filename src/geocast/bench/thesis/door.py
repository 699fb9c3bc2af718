"""The one place where the experiments meet the algorithms."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from geocast.pipeline import REPRESENTATIVES, Algorithm, make_algorithm, variant_names
from geocast.pipeline.frames import project, read_frame
from geocast.pipeline.tables import MatchRows
from geocast.pipeline.tally import reject_tally

__all__ = ["REPRESENTATIVES", "Algorithm", "matched", "prepared", "variant_names"]


def prepared(engine: str, subscriptions: pa.Table, cells: int) -> Algorithm:
    """Build what an algorithm needs of the subscriptions; `cells` is 0 where it has none."""
    return make_algorithm(engine, subscriptions, cells=max(1, cells))


def matched(algorithm: Algorithm, publications: DataFrame) -> DataFrame:
    """Return the matches of a DataFrame, batch or streaming, lazily."""
    frame = project(publications, algorithm.properties)
    write = MatchRows(reject_tally(frame.sparkSession.sparkContext))
    return algorithm.run(frame, read_frame, write)
