from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import geocast
from geocast.cli.app import run
from geocast.model import MATCHES, PAIRS
from tests.cli.bad_records import (
    PUBLICATION_LINES,
    PUBLICATION_ROWS,
    SUBSCRIPTION_LINES,
    SUBSCRIPTION_ROWS,
    write_lines,
    write_publications,
    write_subscriptions,
)
from tests.pipeline.generate import publications, subscriptions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

Words = list[tuple[int, str]]


def words(reasons: list[str | None]) -> Words:
    return [(row, word) for row, word in enumerate(reasons) if word is not None]


def check_rejects(path: Path, side: str, expected: Words) -> None:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    own = [record for record in found if record["side"] == side]
    assert [record["row"] for record in own] == [row for row, _ in expected]
    for record, (_, word) in zip(own, expected, strict=True):
        assert list(record) == ["side", "row", "id", "reason"]
        assert word.lower() in record["reason"].lower(), record
        assert "\n" not in record["reason"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    pq.write_table(subscriptions(), tmp_path / "s.parquet")
    pq.write_table(publications(), tmp_path / "p.parquet", row_group_size=150)
    return str(tmp_path / "s.parquet"), str(tmp_path / "p.parquet")


def test_every_kind_of_bad_row_is_rejected_and_the_rest_matched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_subscriptions(tmp_path / "s.parquet")
    write_publications(tmp_path / "p.parquet")
    inputs = [str(tmp_path / "s.parquet"), str(tmp_path / "p.parquet")]
    outputs = ["-o", str(tmp_path / "m.ndjson"), "--rejects", str(tmp_path / "r.ndjson")]
    assert run(["match", *inputs, *outputs, "--partitions", "4"]) == 0

    bad_subscriptions = words([row[4] for row in SUBSCRIPTION_ROWS])
    bad_publications = words([row[2] for row in PUBLICATION_ROWS])
    check_rejects(tmp_path / "r.ndjson", "subscriptions", bad_subscriptions)
    check_rejects(tmp_path / "r.ndjson", "publications", bad_publications)
    matches = [json.loads(line) for line in (tmp_path / "m.ndjson").read_text().splitlines()]
    assert matches == [
        {"publication": "first", "subscriptions": ["area", "whole"]},
        {"publication": "last", "subscriptions": ["area", "whole"]},
    ]
    said = capsys.readouterr()
    assert said.out == ""
    count = len(bad_subscriptions) + len(bad_publications)
    assert f"{count} records rejected" in said.err
    assert "subscriptions row 1 (id 'unparsable'): " in said.err
    assert f"{len(PUBLICATION_ROWS)} publications, 2 matched, 4 pairs" in said.err


def test_every_kind_of_bad_line_is_rejected_and_the_rest_matched(tmp_path: Path) -> None:
    write_lines(tmp_path / "s.geojsonl", SUBSCRIPTION_LINES)
    write_lines(tmp_path / "p.geojsonl", PUBLICATION_LINES)
    inputs = [str(tmp_path / "s.geojsonl"), str(tmp_path / "p.geojsonl")]
    outputs = ["-o", str(tmp_path / "m.ndjson"), "--rejects", str(tmp_path / "r.ndjson")]
    assert run(["match", *inputs, *outputs]) == 0
    check_rejects(
        tmp_path / "r.ndjson", "subscriptions", words([word for _, word in SUBSCRIPTION_LINES])
    )
    check_rejects(
        tmp_path / "r.ndjson", "publications", words([word for _, word in PUBLICATION_LINES])
    )
    matches = [json.loads(line) for line in (tmp_path / "m.ndjson").read_text().splitlines()]
    assert [match["publication"] for match in matches] == ["first", "last"]
    assert matches[0]["subscriptions"] == ["area", "whole"]


def test_matches_are_those_of_matching_in_process_in_the_order_of_the_input(
    files: tuple[str, str], tmp_path: Path
) -> None:
    output = tmp_path / "m.parquet"
    assert run(["match", *files, "-o", str(output), "--partitions", "7"]) == 0
    found = pq.read_table(output)
    assert found.schema.equals(MATCHES)
    assert found.equals(geocast.match(subscriptions(), publications()))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.parquet",
        "p.parquet",
        "s.parquet",
    ]


def test_pairs_are_the_same_matches_row_by_row(files: tuple[str, str], tmp_path: Path) -> None:
    output = tmp_path / "m.parquet"
    command = ["match", *files, "-o", str(output), "--pairs", "--algorithm", "RIS[HT]"]
    assert run(command) == 0
    found = pq.read_table(output)
    assert found.schema.equals(PAIRS)
    expected = geocast.match(subscriptions(), publications()).to_pylist()
    pairs = [(row["publication"], name) for row in expected for name in row["subscriptions"]]
    assert [tuple(row.values()) for row in found.to_pylist()] == pairs


def test_an_input_without_records_gives_an_output_without_rows(
    files: tuple[str, str], tmp_path: Path
) -> None:
    pq.write_table(publications().slice(0, 0), tmp_path / "none.parquet")
    output = tmp_path / "m.parquet"
    assert run(["match", files[0], str(tmp_path / "none.parquet"), "-o", str(output)]) == 0
    assert pq.read_table(output).equals(pa.table({"publication": [], "subscriptions": []}, MATCHES))


def test_an_output_that_exists_is_replaced_only_by_a_whole_one(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "m.ndjson"
    output.write_text("what was there")

    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("geocast.cli.matching.run_job", interrupt)
    assert run(["match", *files, "-o", str(output)]) == 130
    assert output.read_text() == "what was there"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
