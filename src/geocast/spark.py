"""Matching on Spark: DataFrames, batch or streaming, and files that workers read themselves."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from geocast.errors import InputError, RejectedWarning
from geocast.files import Format, format_of
from geocast.pipeline.base import Reader, Writer
from geocast.pipeline.frames import collect_subscriptions, project, read_frame
from geocast.pipeline.registry import CELLS, make_algorithm
from geocast.pipeline.splits import SplitReader, open_publications, split_frame
from geocast.pipeline.subscriptions import Subscriptions, read_subscriptions
from geocast.pipeline.tables import MatchOrRejectRows, MatchRows, PairOrRejectRows, PairRows
from geocast.pipeline.tally import reject_tally

__all__ = ["match"]


def match(
    publications: DataFrame | str | Path,
    subscriptions: pa.Table | DataFrame | str | Path,
    *,
    algorithm: str = "RIS",
    partitions: int | None = None,
    cells: int = CELLS,
    merge: bool = False,
    pairs: bool = False,
    rejects: bool = False,
) -> DataFrame:
    """Match publications against standing subscriptions.

    `publications` is a DataFrame, batch or streaming, with the columns `id` (string or integer),
    `geometry` (binary, WKB) and any attributes; or the path of a Parquet file, or of a folder of
    them, that all workers see. These then read it themselves, so that publications need not
    travel through Java; the driver reads the ids, and the files must not change until the answer
    has been computed.

    `subscriptions` is an Arrow table, a batch DataFrame, or the path of a file; they are read and
    indexed on the driver before this returns, and stay as they are: for other subscriptions, call
    again. The answer is lazy, as every DataFrame: a row for every matched publication, with
    `publication` (string) and `subscriptions` (array<string>, sorted). `algorithm` names how to
    match, and never changes what is found. `partitions` spreads the publications over that many
    tasks first; without it, those of a DataFrame stay where they are. Algorithms that divide the
    subscriptions do so among at most `cells` partitions, and one for what lies outside them all;
    `merge` has each of them report all that it finds, and removes repeats afterwards. With `pairs`
    a row is a pair, `publication` and `subscription`, and such algorithms need not gather what
    belongs to one publication.

    With `rejects=True`, publications that cannot be used are rows too: they have a `reason`
    (null for matches) and null `subscriptions`. Otherwise they are left out, and the log of
    the driver, `geocast.spark`, says how many there were and why the first was rejected.
    Subscriptions that cannot be used give a RejectedWarning. That a publication's id has
    occurred before is a reason to reject it in a file; in a DataFrame it is not checked, since
    that would need all of a stream.

    Raises UnknownNameError for an algorithm that does not exist, and InputError for files that
    cannot be read and columns that are missing or have the wrong type.
    """
    if partitions is not None and partitions < 1:
        raise InputError(f"partitions must be at least 1, not {partitions}")
    if not isinstance(publications, DataFrame):
        _check_path(publications)
    known = _subscriptions(subscriptions)
    chosen = make_algorithm(algorithm, known.table, cells=cells, merge=merge)
    refused = known.all_rejects(chosen.rejects)
    if refused:
        message = f"{len(refused)} subscriptions rejected, first: {refused[0]}"
        warnings.warn(message, RejectedWarning, stacklevel=2)
    if isinstance(publications, DataFrame):
        frame = project(publications, chosen.properties)
        frame = frame if partitions is None else frame.repartition(partitions)
        return chosen.run(frame, read_frame, _writer(frame, rejects=rejects, pairs=pairs))
    frame, reader, tasks = _split(publications, chosen.properties, partitions)
    return chosen.run(frame, reader, _writer(frame, rejects=rejects, pairs=pairs), tasks)


def _check_path(path: object) -> None:
    if not isinstance(path, str | Path):
        kind = type(path).__name__
        raise InputError(f"publications must be a DataFrame or the path of a file, not {kind}")
    if "://" in str(path):
        raise InputError(f"{path}: is no local path; read it with spark.read.parquet")
    if format_of(path) is not Format.PARQUET:
        raise InputError(f"{path}: workers read Parquet only; `geocast match` reads GeoJSON, too")


def _split(
    path: str | Path, properties: frozenset[str], partitions: int | None
) -> tuple[DataFrame, Reader, int]:
    """Return what names the parts of a file, what reads them, and how many there are."""
    try:
        session = SparkSession.active()
    except PySparkException as error:
        raise InputError(f"to match {path} on Spark, start a SparkSession first") from error
    # No folder for what the driver would have to read for the workers: Parquet is in place.
    opened = open_publications(path, properties, Path(), lambda _: None)
    splits = opened.split_for(session, partitions)
    return split_frame(session, splits), SplitReader(splits), len(splits)


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
