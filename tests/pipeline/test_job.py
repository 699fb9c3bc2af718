from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import geocast
from geocast.errors import GeocastError, InputError
from geocast.files import Chunk
from geocast.pipeline import (
    Algorithm,
    Progress,
    make_algorithm,
    open_publications,
    run_job,
)
from tests.pipeline.generate import as_dict, publications, subscriptions

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def algorithm() -> Algorithm:
    return make_algorithm("RIS", subscriptions())


def unwatched(progress: object) -> None:
    assert progress is not None


@dataclass(frozen=True)
class BrokenSplit:
    error: Exception

    def chunks(self) -> Iterator[Chunk]:
        raise self.error


def test_pieces_come_in_the_order_of_the_input(
    spark: SparkSession, algorithm: Algorithm, tmp_path: Path
) -> None:
    table = publications(300)
    spoiled = pa.array(
        [b"bad" if row in (250, 10) else wkb.as_py() for row, wkb in enumerate(table["geometry"])]
    )
    table = table.set_column(1, "geometry", spoiled)
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=70)
    opened = open_publications(tmp_path / "p.parquet", algorithm.properties, tmp_path, unwatched)
    seen: list[Progress] = []
    pieces = run_job(spark, algorithm, opened.split(7), tmp_path, seen.append)

    matches = pa.concat_tables([part for piece in pieces for part in piece.matches()])
    good = table.filter(pa.array([row not in (250, 10) for row in range(300)]))
    assert matches.equals(geocast.match(subscriptions(), good))
    assert len(pieces) == 7
    assert sum(piece.publications for piece in pieces) == 300
    assert sum(piece.matched for piece in pieces) == matches.num_rows
    assert sum(piece.pairs for piece in pieces) == sum(map(len, as_dict(matches).values()))
    assert sum(piece.rejected for piece in pieces) == 2
    rejects = [reject for piece in pieces for reject in piece.rejects()]
    assert [(reject.row, reject.id) for reject in rejects] == [(10, "p00010"), (250, "p00250")]
    assert seen[-1] == Progress(7, 300)


def test_a_split_that_cannot_be_read_is_the_inputs_fault(
    spark: SparkSession, algorithm: Algorithm, tmp_path: Path
) -> None:
    splits = [BrokenSplit(InputError("p.parquet: damaged in the middle"))]
    with pytest.raises(InputError, match=r"^p\.parquet: damaged in the middle$"):
        run_job(spark, algorithm, splits, tmp_path, unwatched)


def test_when_spark_gives_up_the_error_is_one_line_with_the_cause(
    spark: SparkSession, algorithm: Algorithm, tmp_path: Path
) -> None:
    with pytest.raises(GeocastError, match=r"^Spark gave up: .*the cause$") as failure:
        run_job(
            spark, algorithm, [BrokenSplit(ZeroDivisionError("the cause"))], tmp_path, unwatched
        )
    assert not isinstance(failure.value, InputError)


def test_an_interruption_cancels_the_job(
    spark: SparkSession, algorithm: Algorithm, tmp_path: Path
) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    pq.write_table(publications(300), tmp_path / "p.parquet")
    opened = open_publications(tmp_path / "p.parquet", algorithm.properties, tmp_path, unwatched)
    with pytest.raises(KeyboardInterrupt):
        run_job(spark, algorithm, opened.split(200), tmp_path, interrupt)
    assert list(spark.sparkContext.statusTracker().getActiveJobsIds()) == []
