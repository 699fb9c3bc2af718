from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import geocast
import geocast.spark
from geocast.errors import InputError, RejectedWarning, UnknownNameError
from geocast.pipeline import REPRESENTATIVES, algorithm_names
from tests.pipeline.generate import as_dict, publications, subscriptions

pytestmark = pytest.mark.spark

PUBLICATIONS = publications()
SUBSCRIPTIONS = subscriptions()
NAMES = algorithm_names()
QUICK = ("RIS", *REPRESENTATIVES)
"""All 48 run on Spark in tests/bench/test_thesis.py, too, and are compared there."""


@pytest.fixture(scope="module")
def frame(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("publications") / "p.parquet"
    pq.write_table(PUBLICATIONS, path)
    return spark.read.parquet(str(path))


@pytest.fixture(scope="module")
def expected() -> dict[str, list[str]]:
    found = as_dict(geocast.match(SUBSCRIPTIONS, PUBLICATIONS))
    assert len(found) > 0
    return found


def spoiled(frame: DataFrame) -> DataFrame:
    bad = F.when(F.col("id") == "p00007", F.lit(b"not WKB")).otherwise(F.col("geometry"))
    return frame.withColumn("geometry", bad)


@pytest.mark.parametrize(
    "algorithm",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in NAMES],
)
def test_every_algorithm_finds_what_matching_in_process_finds(
    frame: DataFrame, expected: dict[str, list[str]], algorithm: str
) -> None:
    matches = geocast.spark.match(frame, SUBSCRIPTIONS, algorithm=algorithm, cells=10)
    assert matches.schema.simpleString() == (
        "struct<publication:string,subscriptions:array<string>>"
    )
    assert as_dict(matches.toArrow()) == expected


@pytest.mark.parametrize("algorithm", ["RIS", *REPRESENTATIVES[1:]])
def test_pairs_are_rows_where_asked_for(
    frame: DataFrame, expected: dict[str, list[str]], algorithm: str
) -> None:
    answers = geocast.spark.match(
        spoiled(frame), SUBSCRIPTIONS, algorithm=algorithm, pairs=True, rejects=True, cells=7
    ).toArrow()
    assert answers.column_names == ["publication", "subscription", "reason"]
    good = answers.filter(answers["reason"].is_null())
    found = list(
        zip(good["publication"].to_pylist(), good["subscription"].to_pylist(), strict=True)
    )
    assert sorted(found) == sorted(
        (publication, subscription)
        for publication, subscriptions in expected.items()
        for subscription in subscriptions
        if publication != "p00007"
    )
    [bad] = answers.filter(answers["reason"].is_valid()).to_pylist()
    assert (bad["publication"], bad["subscription"]) == ("p00007", None)


@pytest.mark.parametrize("algorithm", [*REPRESENTATIVES[1:], "auto"])
def test_merging_and_choosing_change_nothing(
    frame: DataFrame, expected: dict[str, list[str]], algorithm: str
) -> None:
    found = geocast.spark.match(frame, SUBSCRIPTIONS, algorithm=algorithm, merge=True, cells=7)
    assert as_dict(found.toArrow()) == expected
    pairs = geocast.spark.match(
        frame, SUBSCRIPTIONS, algorithm=algorithm, merge=True, cells=7, pairs=True
    )
    assert pairs.count() == sum(map(len, expected.values()))


def test_partitions_change_the_tasks_and_not_the_matches(
    frame: DataFrame, expected: dict[str, list[str]]
) -> None:
    matches = geocast.spark.match(frame, SUBSCRIPTIONS, partitions=5)
    assert matches.rdd.getNumPartitions() == 5
    assert as_dict(matches.toArrow()) == expected


def test_small_arrow_batches_change_nothing(
    spark: SparkSession, frame: DataFrame, expected: dict[str, list[str]]
) -> None:
    rows = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(rows)
    spark.conf.set(rows, "7")
    try:
        assert as_dict(geocast.spark.match(frame, SUBSCRIPTIONS).toArrow()) == expected
    finally:
        spark.conf.set(rows, str(usual))


@pytest.mark.parametrize("algorithm", ["RIS", *REPRESENTATIVES[1:]])
def test_a_stream_of_files_is_matched_as_a_batch_is(
    spark: SparkSession,
    frame: DataFrame,
    expected: dict[str, list[str]],
    tmp_path: Path,
    algorithm: str,
) -> None:
    for number in range(2):
        part = PUBLICATIONS.slice(number * 200, 200)
        pq.write_table(part, tmp_path / f"{number}.parquet")
    source = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1)
    matches = geocast.spark.match(
        source.parquet(str(tmp_path)), SUBSCRIPTIONS, algorithm=algorithm, cells=7
    )
    assert matches.isStreaming
    query = matches.writeStream.format("memory").queryName("found").trigger(availableNow=True)
    assert query.start().awaitTermination(120)
    assert as_dict(spark.table("found").toArrow()) == expected


def test_subscriptions_may_be_a_frame_or_a_file(
    spark: SparkSession, frame: DataFrame, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    pq.write_table(SUBSCRIPTIONS, tmp_path / "s.parquet")
    for form in (
        tmp_path / "s.parquet",
        str(tmp_path / "s.parquet"),
        spark.read.parquet(str(tmp_path / "s.parquet")),
    ):
        assert as_dict(geocast.spark.match(frame, form).toArrow()) == expected


@pytest.mark.parametrize("algorithm", ["RIS", *REPRESENTATIVES[1:]])
def test_publications_may_be_files_that_workers_read(
    spark: SparkSession, expected: dict[str, list[str]], tmp_path: Path, algorithm: str
) -> None:
    (tmp_path / "parts").mkdir()
    for number in range(2):
        part = PUBLICATIONS.slice(number * 200, 200)
        pq.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    for path in (tmp_path / "parts", str(tmp_path / "parts" / "0.parquet")):
        found = geocast.spark.match(path, SUBSCRIPTIONS, algorithm=algorithm, cells=7)
        ids = pq.read_table(path)["id"].to_pylist()
        wanted = {name: theirs for name, theirs in expected.items() if name in ids}
        assert as_dict(found.toArrow()) == wanted
        pairs = geocast.spark.match(path, SUBSCRIPTIONS, algorithm=algorithm, pairs=True)
        assert pairs.count() == sum(map(len, wanted.values()))


def test_of_files_partitions_are_the_tasks_and_repeats_are_rejected(
    spark: SparkSession, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    table = pa.concat_tables([PUBLICATIONS, PUBLICATIONS.slice(0, 1)])
    pq.write_table(table, tmp_path / "p.parquet")
    found = geocast.spark.match(
        tmp_path / "p.parquet", SUBSCRIPTIONS, partitions=3, rejects=True
    ).cache()
    assert found.rdd.getNumPartitions() == 3
    answers = found.toArrow()
    assert as_dict(answers.filter(answers["reason"].is_null())) == expected
    [bad] = answers.filter(answers["reason"].is_valid()).to_pylist()
    assert bad["publication"] == PUBLICATIONS["id"][0].as_py()
    assert bad["reason"] == "duplicate id: an earlier row has it"


def test_integer_ids_become_text(frame: DataFrame) -> None:
    numbered = frame.withColumn("id", F.expr("int(substring(id, 2))"))
    found = as_dict(geocast.spark.match(numbered, SUBSCRIPTIONS).toArrow())
    renamed = PUBLICATIONS.set_column(
        0, "id", pa.array([str(number) for number in range(PUBLICATIONS.num_rows)])
    )
    assert found == as_dict(geocast.match(SUBSCRIPTIONS, renamed))


def test_filters_see_nested_attributes(frame: DataFrame) -> None:
    nested = frame.withColumn("source", F.struct(F.col("mag").alias("strength")))
    table = pa.table({"id": ["s"], "filter": ["source.strength >= 8.5"]})
    found = as_dict(geocast.spark.match(nested, table).toArrow())
    strong = PUBLICATIONS.filter(pa.compute.field("mag") >= 8.5)
    assert sorted(found) == strong["id"].to_pylist()


def test_rejects_are_rows_with_a_reason_where_asked_for(
    frame: DataFrame, expected: dict[str, list[str]]
) -> None:
    answers = geocast.spark.match(spoiled(frame), SUBSCRIPTIONS, rejects=True).toArrow()
    assert answers.column_names == ["publication", "subscriptions", "reason"]
    good = answers.filter(answers["reason"].is_null())
    assert as_dict(good) == {key: value for key, value in expected.items() if key != "p00007"}
    [bad] = answers.filter(answers["reason"].is_valid()).to_pylist()
    assert bad["publication"] == "p00007"
    assert bad["subscriptions"] is None
    assert bad["reason"]


def test_rejects_are_logged_where_nobody_asks_for_them(
    frame: DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="geocast.spark"):
        found = as_dict(geocast.spark.match(spoiled(frame), SUBSCRIPTIONS).toArrow())
        deadline = time.monotonic() + 60
        while not caplog.messages and time.monotonic() < deadline:
            time.sleep(0.05)
    assert "p00007" not in found
    [message] = caplog.messages
    assert message.startswith("1 publications rejected so far, first (id 'p00007'): ")


def test_bad_subscriptions_give_a_warning_that_names_the_first(frame: DataFrame) -> None:
    table = pa.table({"id": ["good", "bad"], "filter": ["mag > 8", "mag >"]})
    with pytest.warns(RejectedWarning, match="1 subscriptions rejected, first: .*'bad'"):
        matches = geocast.spark.match(frame, table)
    assert {tuple(found) for found in as_dict(matches.toArrow()).values()} == {("good",)}


def test_what_cannot_be_used_is_refused_at_once(spark: SparkSession, frame: DataFrame) -> None:
    with pytest.raises(UnknownNameError, match="RIS"):
        geocast.spark.match(frame, SUBSCRIPTIONS, algorithm="nonsense")
    with pytest.raises(InputError, match="at least 1"):
        geocast.spark.match(frame, SUBSCRIPTIONS, partitions=0)
    with pytest.raises(InputError, match="not dict"):
        geocast.spark.match(frame, {})
    with pytest.raises(InputError, match=r"nowhere\.parquet: no such file"):
        geocast.spark.match(frame, "nowhere.parquet")
    stream = spark.readStream.format("rate").load()
    with pytest.raises(InputError, match="not a streaming one"):
        geocast.spark.match(frame, stream)
    with pytest.raises(InputError, match=r"publications must be .* not Table"):
        geocast.spark.match(PUBLICATIONS, SUBSCRIPTIONS)
    with pytest.raises(InputError, match=r"nowhere\.parquet: no such file"):
        geocast.spark.match("nowhere.parquet", SUBSCRIPTIONS)

    with pytest.raises(InputError, match=r"read it with spark\.read\.parquet"):
        geocast.spark.match("s3://bucket/p.parquet", SUBSCRIPTIONS)
    with pytest.raises(InputError, match="workers read Parquet only"):
        geocast.spark.match("p.geojson", SUBSCRIPTIONS)


@pytest.mark.parametrize("content", ["nothing", "others"])
def test_a_folder_without_parquet_is_refused(
    spark: SparkSession, tmp_path: Path, content: str
) -> None:
    if content == "others":
        (tmp_path / "notes.txt").write_text("none")
    with pytest.raises(InputError, match="is a folder without Parquet parts"):
        geocast.spark.match(tmp_path, SUBSCRIPTIONS)


def test_a_thread_of_its_own_may_match_files(
    spark: SparkSession, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    pq.write_table(PUBLICATIONS, tmp_path / "p.parquet")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(geocast.spark.match, tmp_path / "p.parquet", SUBSCRIPTIONS).result()
    assert as_dict(found.toArrow()) == expected


def test_a_file_needs_a_session(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pq.write_table(PUBLICATIONS, tmp_path / "p.parquet")
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(SparkSession, "_instantiatedSession", None)
    with pytest.raises(InputError, match="start a SparkSession first"):
        geocast.spark.match(tmp_path / "p.parquet", SUBSCRIPTIONS)
