from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from geocast.errors import InputError
from geocast.files import write_features
from geocast.files.columns import column
from tests.files.samples import SUFFIXES, point_wkb, records_of


def _features(*values: Any) -> pa.RecordBatch:
    """Return a batch whose property `v` has the given values."""
    size = len(values)
    ids = [f"a{i}" for i in range(size)]
    return pa.record_batch({"id": ids, "geometry": [point_wkb()] * size, "v": column(list(values))})


def _geo(path: Path) -> dict[str, Any]:
    described = json.loads(pq.ParquetFile(path).metadata.metadata[b"geo"])
    assert isinstance(described, dict)
    return described


def test_geoparquet_metadata(tmp_path: Path) -> None:
    shapes = [shapely.Point(1, 2), shapely.box(-3, 0, 5, 7), shapely.Point(), None]
    table = pa.table({"id": list("abcd"), "geometry": list(shapely.to_wkb(shapes))})
    path = tmp_path / "f.parquet"
    assert write_features(path, [table]) == 4
    assert _geo(path) == {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["Point", "Polygon"],
                "bbox": [-3, 0, 5, 7],
            }
        },
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_to_write_gives_a_file_without_features(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"f{suffix}"
    assert write_features(path, []) == 0
    assert records_of(path) == []


def test_a_collection_is_geojson(tmp_path: Path) -> None:
    path = tmp_path / "f.geojson"
    write_features(path, [_features(1, "x")])
    assert json.loads(path.read_text()) == {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "id": f"a{i}",
                "geometry": {"type": "Point", "coordinates": [1.0, 2.0]},
                "properties": {"v": value},
            }
            for i, value in enumerate([1, "x"])
        ],
    }


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([[None], [1]], [None, 1]),
        ([[1], [None], [2.5]], [1.0, None, 2.5]),
        ([[1, "a", None, True]], ["1", "a", None, "true"]),
        ([[1], ["a"]], ["1", "a"]),
        ([[{}]], ["{}"]),
        ([[{"u": 1}], [{"w": "x"}]], [{"u": 1, "w": None}, {"u": None, "w": "x"}]),
        ([[{"u": 1}, None], [{"u": "x"}]], [{"u": "1"}, None, {"u": "x"}]),
        ([[[1]], [["a"], None, []]], [["1"], ["a"], None, []]),
        ([[[1]], [[2.5]]], [[1.0], [2.5]]),
        ([[[1, "a"]], [{"u": 1}]], ['[1,"a"]', '{"u":1}']),
        ([[[]], [["a"]]], [[], ["a"]]),
    ],
)
def test_types_that_change_are_merged_for_parquet(
    batches: list[list[Any]], expected: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "f.parquet"
    write_features(path, [_features(*values) for values in batches])
    assert [record["v"] for record in records_of(path)] == expected


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_may_come_and_go(suffix: str, tmp_path: Path) -> None:
    other = pa.record_batch({"geometry": [point_wkb()], "w": [1.5], "id": ["b"]})
    path = tmp_path / f"f{suffix}"
    write_features(path, [_features(1), pa.Table.from_batches([other])])
    assert records_of(path) == [
        {"id": "a0", "geometry": point_wkb(), "v": 1, "w": None},
        {"id": "b", "geometry": point_wkb(), "v": None, "w": 1.5},
    ]


def test_values_without_a_json_form(tmp_path: Path) -> None:
    moment = datetime.datetime(2015, 8, 1, 12, tzinfo=datetime.UTC)
    batch = pa.record_batch(
        {
            "id": ["a"],
            "geometry": [point_wkb()],
            "time": pa.array([moment], pa.timestamp("ns", "UTC")),
            "date": [moment.date()],
            "price": [Decimal("1.50")],
            "bytes": [b"\x01\xff"],
            "nan": [float("nan")],
        }
    )
    path = tmp_path / "f.ndjson"
    write_features(path, [batch])
    assert json.loads(path.read_text())["properties"] == {
        "time": "2015-08-01T12:00:00+00:00",
        "date": "2015-08-01",
        "price": "1.50",
        "bytes": "01ff",
        "nan": None,
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": ["a"]}, "features without a column `geometry`"),
        ({"geometry": [point_wkb()]}, "features without a column `id`"),
        ({"id": ["a"], "geometry": [b"x"]}, "feature 'a': the geometry is not WKB"),
    ],
)
def test_a_failure_leaves_no_file_behind(
    columns: dict[str, Any], said: str, suffix: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        write_features(tmp_path / f"f{suffix}", [_features(1), pa.table(columns)])
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    def never() -> Any:
        raise AssertionError
        yield

    with pytest.raises(InputError, match=r"unknown suffix '\.shp'"):
        write_features(tmp_path / "f.shp", never())


def test_altitudes_are_dropped(tmp_path: Path) -> None:
    high = shapely.to_wkb(shapely.Point(1, 2, 3))
    path = tmp_path / "f.geojson"
    write_features(path, [pa.table({"id": ["a"], "geometry": [high]})])
    assert json.loads(path.read_text())["features"][0]["geometry"]["coordinates"] == [1, 2]
