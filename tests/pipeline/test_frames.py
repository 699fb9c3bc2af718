from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from geocast.errors import InputError
from geocast.pipeline.frames import project, read_frame

pytestmark = pytest.mark.spark


def test_only_what_is_needed_is_kept(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 7 AS id, X'00' AS geometry, 1 AS a, 2 AS b, 3 AS `c.d`, 4 AS unused")
    kept = project(frame, {"b", "c.d", "id", "missing"})
    assert [(f.name, f.dataType.simpleString()) for f in kept.schema] == [
        ("id", "string"),
        ("geometry", "binary"),
        ("b", "int"),
        ("c.d", "int"),
    ]


def test_a_nested_name_keeps_the_struct_that_it_looks_into(spark: SparkSession) -> None:
    frame = spark.sql("SELECT '1' AS id, X'00' AS geometry, named_struct('b', 1) AS a")
    assert project(frame, {"a.b"}).columns == ["id", "geometry", "a"]


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("'a' AS name, X'00' AS geometry", "no column 'id'; their columns: name, geometry"),
        ("'a' AS id", "no column 'geometry'"),
        ("1.5D AS id, X'00' AS geometry", "'id' must be string or integer, not double"),
        ("'a' AS id, 'POINT (1 2)' AS geometry", r"must be binary \(WKB\), not string"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(
    spark: SparkSession, select: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        project(spark.sql(f"SELECT {select}"), ())


def test_sparks_own_geometry_type_is_refused_with_advice(spark: SparkSession) -> None:
    point = "X'0101000000000000000000F03F0000000000000040'"
    frame = spark.sql(f"SELECT 'a' AS id, ST_GeomFromWKB({point}) AS geometry")
    with pytest.raises(InputError, match=r"convert it with ST_AsBinary"):
        project(frame, ())
    usable = frame.withColumn("geometry", F.expr("ST_AsBinary(geometry)"))
    assert project(usable, ()).count() == 1


def test_small_batches_are_joined_and_rows_counted_on() -> None:
    batch = pa.RecordBatch.from_pydict({"id": ["a"] * 30_000, "geometry": [b"x"] * 30_000})
    chunks = list(read_frame(iter([batch] * 5)))
    assert [chunk.batch.num_rows for chunk in chunks] == [120_000, 30_000]
    assert chunks[1].rows[0] == 120_000


def test_wide_batches_are_not_joined_beyond_the_bound() -> None:
    batch = pa.RecordBatch.from_pydict({"id": ["a"] * 10, "geometry": [b"x" * (4 << 20)] * 10})
    assert [chunk.batch.num_rows for chunk in read_frame(iter([batch] * 4))] == [20, 20]
