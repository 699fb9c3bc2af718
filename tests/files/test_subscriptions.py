from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from geocast.errors import InputError
from geocast.files import SUBSCRIPTIONS, read
from tests.files.samples import JSON_SUFFIXES, feature, only, point_wkb, write_json, write_parquet

_CQL2 = {"op": ">", "args": [{"property": "mag"}, 4.5]}


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
def test_every_batch_has_the_same_columns(suffix: str, tmp_path: Path) -> None:
    records = [
        feature("a", predicate="within", subscriber="x", colour="red"),
        {**feature("b", filter="mag > 5", subscriber=7), "geometry": None},
        {"type": "Feature", "id": "c", "properties": {"filter": _CQL2}},
        feature("d", filter=True),
    ]
    chunks = list(read(write_json(tmp_path / f"s{suffix}", records), "subscriptions", batch_rows=2))
    table = pa.Table.from_batches([chunk.batch for chunk in chunks], SUBSCRIPTIONS)
    assert table.select(["id", "subscriber", "predicate"]).to_pylist() == [
        {"id": "a", "subscriber": "x", "predicate": "within"},
        {"id": "b", "subscriber": "7", "predicate": None},
        {"id": "c", "subscriber": None, "predicate": None},
        {"id": "d", "subscriber": None, "predicate": None},
    ]
    assert table["geometry"].to_pylist() == [point_wkb(), None, None, point_wkb()]
    filters = table["filter"].to_pylist()
    assert filters[:2] == [None, "mag > 5"]
    assert json.loads(filters[2]) == _CQL2
    assert filters[3] == "true"


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"predicate": 3}, "`predicate` is the number 3; it must be text"),
        ({"subscriber": ["x"]}, "`subscriber` is an array; it must be text or a number"),
        ({"subscriber": True}, "`subscriber` is true; it must be text or a number"),
        ({"filter": 4.5}, "`filter` is the number 4.5; it must be CQL2 text or a CQL2 JSON object"),
        ({"filter": []}, "`filter` is an array; it must be CQL2 text or a CQL2 JSON object"),
    ],
)
def test_a_field_that_means_nothing_is_rejected(
    properties: dict[str, Any], reason: str, suffix: str, tmp_path: Path
) -> None:
    records = [feature("a"), feature("b", **properties), feature("c")]
    chunk = only(write_json(tmp_path / f"s{suffix}", records), "subscriptions")
    assert chunk.batch.column("id").to_pylist() == ["a", "c"]
    (reject,) = chunk.rejects
    assert (reject.side, reject.row, reject.id) == ("subscriptions", 1, "b")
    assert reject.reason == reason


def test_parquet_with_all_columns(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "s.parquet",
        filter=pa.array(["a > 1", None], pa.large_string()),
        id=[1, 2],
        colour=["red", "blue"],
        geometry=[None, point_wkb()],
        predicate=pa.array(["within", "within"]).dictionary_encode(),
        subscriber=[10, 20],
    )
    chunk = only(path, "subscriptions")
    assert chunk.batch.schema == SUBSCRIPTIONS
    assert chunk.batch.to_pylist() == [
        {
            "id": "1",
            "geometry": None,
            "subscriber": "10",
            "predicate": "within",
            "filter": "a > 1",
        },
        {
            "id": "2",
            "geometry": point_wkb(),
            "subscriber": "20",
            "predicate": "within",
            "filter": None,
        },
    ]
    assert chunk.rejects == ()


def test_parquet_without_geometry(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "s.parquet", id=["a"], filter=["true"])
    chunk = only(path, "subscriptions")
    assert chunk.batch.schema == SUBSCRIPTIONS
    assert chunk.batch.column("geometry").to_pylist() == [None]


def test_parquet_text_columns_of_another_type_are_refused(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "s.parquet", id=["a"], predicate=[3])
    with pytest.raises(InputError, match="the column 'predicate' holds int64; text is expected"):
        only(path, "subscriptions")


def test_parquet_geometry_that_is_not_wkb_is_rejected(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "s.parquet", id=["a", "b"], geometry=[b"x", point_wkb()])
    chunk = only(path, "subscriptions")
    assert chunk.rows.tolist() == [1]
    assert chunk.rejects[0].id == "a"
