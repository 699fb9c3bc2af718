from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocast.files import duplicate_rows, duplicates, input_size, read, reject_duplicates
from geocast.model import Side
from tests.files.samples import JSON_SUFFIXES, feature, only, point_wkb, write_json, write_parquet


def _repeated(ids: list[str]) -> list[int]:
    return [row for row, name in enumerate(ids) if name in ids[:row]]


@pytest.mark.parametrize("side", ["publications", "subscriptions"])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ids=st.lists(st.text(max_size=2), max_size=20), held=st.sampled_from([0, 20, 1 << 20]))
def test_rows_whose_id_has_occurred(
    side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: list[str], held: int
) -> None:
    monkeypatch.setattr(duplicates, "_AT_ONCE", held)
    lines = write_json(tmp_path / "f.ndjson", [feature(name) for name in ids])
    assert duplicate_rows(lines, side).tolist() == _repeated(ids)
    if ids:
        table = write_parquet(tmp_path / "f.parquet", id=ids, geometry=[point_wkb()] * len(ids))
        assert duplicate_rows(table, side).tolist() == _repeated(ids)


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
def test_a_bad_record_counts_if_its_id_can_be_read(suffix: str, tmp_path: Path) -> None:
    records = [{**feature("a"), "geometry": None}, 7, feature("a"), feature("b")]
    assert duplicate_rows(
        write_json(tmp_path / f"f{suffix}", records), "publications"
    ).tolist() == [2]


def test_numbers_and_texts_that_read_alike_are_one_id(tmp_path: Path) -> None:
    path = write_json(tmp_path / "f.ndjson", [feature(10), feature("10"), feature(10.0)])
    assert duplicate_rows(path, "publications").tolist() == [1]


def test_rows_without_id_are_no_duplicates(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "f.parquet", id=["a", None, None, "a"])
    assert duplicate_rows(path, "subscriptions").tolist() == [3]


def test_ids_that_memory_holds_are_compared_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(duplicates, "_by_buckets")
    ids = [f"id{i % 60_000}" for i in range(100_000)]
    path = write_parquet(tmp_path / "f.parquet", id=ids)
    assert duplicate_rows(path, "publications").tolist() == list(range(60_000, 100_000))


def test_many_ids_go_through_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_AT_ONCE", 10_000)
    monkeypatch.setattr(duplicates, "_IN_MEMORY", 256)
    ids = [f"id{i % 60_000}" for i in range(100_000)]
    path = write_parquet(tmp_path / "f.parquet", id=ids)
    assert duplicate_rows(path, "publications").tolist() == list(range(60_000, 100_000))


def test_duplicates_become_rejects(tmp_path: Path) -> None:
    records = [feature("a", n=0), feature("b", n=1), 7, feature("a", n=3), feature("c", n=4)]
    path = write_json(tmp_path / "f.ndjson", records)
    chunk = reject_duplicates(only(path), "publications", duplicate_rows(path, "publications"))
    assert chunk.batch.column("n").to_pylist() == [0, 1, 4]
    assert chunk.rows.tolist() == [0, 1, 4]
    assert [(r.row, r.id) for r in chunk.rejects] == [(2, None), (3, "a")]
    assert chunk.rejects[1].reason == "duplicate id: an earlier row has it"
    assert chunk.position == input_size(path)


def test_a_chunk_without_duplicates_stays_itself(tmp_path: Path) -> None:
    path = write_json(tmp_path / "f.ndjson", [feature("a"), feature("b")])
    (chunk,) = read(path, "publications")
    assert reject_duplicates(chunk, "publications", duplicate_rows(path, "publications")) is chunk
