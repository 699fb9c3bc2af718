from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka.admin import AdminClient

from geocast.bench.data import DataFolder
from geocast.bench.thesis.claims import CLAIMS
from geocast.bench.thesis.figures import EXPERIMENTS
from geocast.bench.thesis.rivals import CENTRAL, PLAIN
from geocast.pipeline import REPRESENTATIVES, variant_names

pytestmark = pytest.mark.spark


def run_thesis(folder: DataFolder, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own, as sessions of other tests may live in this one."""
    command = [sys.executable, "-m", "geocast", "bench", "thesis", "--scale", "small", *options]
    return subprocess.run(
        [*command, "--data", str(folder.path), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def report(data: DataFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("thesis")
    ran = run_thesis(data, out)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "left: " in ran.stderr
    return out


def test_every_experiment_has_rows_or_a_reason(report: Path) -> None:
    rows = pq.read_table(report / "results.parquet").to_pylist()
    assert {row["experiment"] for row in rows} == set(EXPERIMENTS)
    for row in rows:
        assert (row["rate"] is not None) != bool(row["reason"]), row
    measured = {row["experiment"] for row in rows if row["rate"] is not None}
    assert set(EXPERIMENTS) - measured == {"H"}
    engines = {row["series"] for row in rows}
    assert {*REPRESENTATIVES, *CENTRAL, *PLAIN, "RIS"} <= engines


def test_all_give_the_same_matches(report: Path) -> None:
    rows = pq.read_table(report / "results.parquet").to_pylist()
    measured = [row for row in rows if row["rate"] is not None]
    assert all(row["agrees"] for row in measured)
    variants = {row["series"]: row["matches"] for row in measured if row["figure"] == "8.1"}
    assert set(variants) == set(variant_names())
    assert len(set(variants.values())) == 1
    defaults = {row["matches"] for row in measured if row["figure"] == "8.30"}
    assert len(defaults) == 1
    assert all(row["pairs"] > 0 for row in measured if row["figure"] == "8.30")


def test_streams_have_latency_and_memory_is_split(report: Path) -> None:
    rows = pq.read_table(report / "results.parquet").to_pylist()
    assert all(row["latency"] > 0 for row in rows if row["experiment"] == "G")
    memory = [row for row in rows if row["experiment"] == "L"]
    assert memory
    assert all(row["static_shared"] > 0 and row["machine"] > 0 for row in memory)


def test_the_page_judges_every_claim(report: Path) -> None:
    claims = pq.read_table(report / "claims.parquet").to_pylist()
    assert len(claims) == len(CLAIMS)
    verdicts = {row["claim"]: row["verdict"] for row in claims}
    assert verdicts["RIS is best with 128 Kafka partitions, the others with 32"] == (
        "not measurable here"
    )
    page = (report / "index.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == len(list((report / "figures").iterdir()))
    assert "gave the same matches as RIS[HT]" in page
    assert "http" not in page


def test_a_second_run_measures_nothing_again(data: DataFolder, report: Path) -> None:
    journal = (report / "journal.jsonl").read_text()
    ran = run_thesis(data, report, "--only", "F,H")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (report / "journal.jsonl").read_text() == journal
    rows = pq.read_table(report / "results.parquet").to_pylist()
    assert {row["experiment"] for row in rows} == {"F", "H"}


@pytest.mark.full
def test_kafka_partitions_are_varied_where_there_are_brokers(
    data: DataFolder, report: Path, kafka: str
) -> None:
    ran = run_thesis(data, report, "--only", "F,H", "--kafka", f"kafka://{kafka}/thesis")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = pq.read_table(report / "results.parquet").to_pylist()
    streamed = [row for row in rows if row["experiment"] == "H"]
    assert {row["x"] for row in streamed} == {2, 8}
    assert all(row["pairs"] > 0 and row["latency"] > 0 and row["agrees"] for row in streamed)
    assert len({row["matches"] for row in rows}) == 1  # those of files, too
    names = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=30).topics
    assert not [name for name in names if name.startswith("thesis.")]


def test_what_is_no_address_of_kafka_is_told_before_anything_runs(
    data: DataFolder, tmp_path: Path
) -> None:
    ran = run_thesis(data, tmp_path, "--only", "H", "--kafka", "127.0.0.1:9092")
    assert ran.returncode == 2
    assert "kafka://host:9092" in ran.stderr
    assert not list(tmp_path.iterdir())
