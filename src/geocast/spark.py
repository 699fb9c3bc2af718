"""Matching on Spark DataFrames, batch or streaming."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from geocast.errors import InputError, RejectedWarning
from geocast.pipeline.base import Writer
from geocast.pipeline.frames import collect_subscriptions, project, read_frame
from geocast.pipeline.registry import CELLS, make_algorithm
from geocast.pipeline.subscriptions import Subscriptions, read_subscriptions
from geocast.pipeline.tables import MatchOrRejectRows, MatchRows, PairOrRejectRows, PairRows
from geocast.pipeline.tally import reject_tally

__all__ = ["match"]


def match(
    publications: DataFrame,
    subscriptions: pa.Table | DataFrame | str | Path,
    *,
    algorithm: str = "RIS",
    partitions: int | None = None,
    cells: int = CELLS,
    merge: bool = False,
    pairs: bool = False,
    rejects: bool = False,
) -> DataFrame:
    """Match a DataFrame of publications, batch or streaming, against standing subscriptions.

    `publications` has the columns `id` (string or integer), `geometry` (binary, WKB) and any
    attributes. `subscriptions` is an Arrow table, a batch DataFrame, or the path of a file;
    they are read and indexed on the driver before this returns, and stay as they are: for
    other subscriptions, call again. The answer is lazy, as every DataFrame: a row for every
    matched publication, with `publication` (string) and `subscriptions` (array<string>,
    sorted). `algorithm` names how to match, and never changes what is found. `partitions`
    spreads the publications over that many tasks first; without it they stay where they are.
    Algorithms that divide the subscriptions do so among at most `cells` partitions, and one for
    what lies outside them all; `merge` has each of them report all that it finds, and removes
    repeats afterwards. With `pairs` a row is a pair, `publication` and `subscription`, and such
    algorithms need not gather what belongs to one publication.

    With `rejects=True`, publications that cannot be used are rows too: they have a `reason`
    (null for matches) and null `subscriptions`. Otherwise they are left out, and the log of
    the driver, `geocast.spark`, says how many there were and why the first was rejected.
    Subscriptions that cannot be used give a RejectedWarning. A publication's id is not
    checked to be unique, since that would need all of a stream.

    Raises UnknownNameError for an algorithm that does not exist, and InputError for columns
    that are missing or have the wrong type.
    """
    if partitions is not None and partitions < 1:
        raise InputError(f"partitions must be at least 1, not {partitions}")
    known = _subscriptions(subscriptions)
    chosen = make_algorithm(algorithm, known.table, cells=cells, merge=merge)
    refused = known.all_rejects(chosen.rejects)
    if refused:
        message = f"{len(refused)} subscriptions rejected, first: {refused[0]}"
        warnings.warn(message, RejectedWarning, stacklevel=2)
    frame = project(publications, chosen.properties)
    frame = frame if partitions is None else frame.repartition(partitions)
    return chosen.run(frame, read_frame, _writer(frame, rejects=rejects, pairs=pairs))


def _subscriptions(subscriptions: pa.Table | DataFrame | str | Path) -> Subscriptions:
    if isinstance(subscriptions, pa.Table):
        return Subscriptions.of(subscriptions)
    if isinstance(subscriptions, str | Path):
        return read_subscriptions(subscriptions)
    if isinstance(subscriptions, DataFrame):
        return Subscriptions.of(collect_subscriptions(subscriptions))
    kind = type(subscriptions).__name__
    raise InputError(f"subscriptions must be an Arrow table, a DataFrame or a path, not {kind}")


def _writer(frame: DataFrame, *, rejects: bool, pairs: bool) -> Writer:
    if rejects:
        return PairOrRejectRows() if pairs else MatchOrRejectRows()
    tally = reject_tally(frame.sparkSession.sparkContext)
    return PairRows(tally) if pairs else MatchRows(tally)
