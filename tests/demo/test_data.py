from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import shapely

from geocast import files
from geocast.cli.demo.quakes import data_file, read_areas, read_quakes

ROWS = {"earthquakes": 8826, "countries": 241, "us_states": 56, "us_counties": 3230}


def shapes(name: str) -> Any:
    column = pq.read_table(data_file(name))["geometry"]
    return shapely.from_wkb(np.array(column.to_pylist(), dtype=object))


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_complete_and_ids_are_unique(name: str) -> None:
    table = pq.read_table(data_file(name))
    assert table.num_rows == ROWS[name]
    assert pc.count_distinct(table["id"]).as_py() == ROWS[name]
    assert table["id"].null_count == table["geometry"].null_count == 0


@pytest.mark.parametrize("name", ROWS)
def test_is_geoparquet_that_the_product_reads_without_rejects(name: str) -> None:
    geo = json.loads(pq.read_metadata(data_file(name)).metadata[b"geo"])
    assert geo["columns"][geo["primary_column"]]["encoding"] == "WKB"
    chunks = list(files.read(data_file(name), "publications"))
    assert sum(chunk.batch.num_rows for chunk in chunks) == ROWS[name]
    assert [reject for chunk in chunks for reject in chunk.rejects] == []


@pytest.mark.parametrize("name", ROWS)
def test_geometries_are_valid_and_on_earth(name: str) -> None:
    geometries = shapes(name)
    assert shapely.is_valid(geometries).all()
    assert not shapely.is_empty(geometries).any()
    west, south, east, north = shapely.total_bounds(geometries)
    assert west >= -180
    assert east <= 180
    assert south >= -90
    assert north <= 90


@pytest.mark.parametrize("name", ["countries", "us_states", "us_counties"])
def test_no_ring_runs_round_the_earth_the_wrong_way(name: str) -> None:
    north_of_antarctica = shapely.intersection(shapes(name), shapely.box(-180, -60, 180, 90))
    rings = shapely.get_rings(shapely.get_parts(north_of_antarctica))
    steps = [np.abs(np.diff(shapely.get_coordinates(ring)[:, 0])).max() for ring in rings]
    assert max(steps) < 30


def test_russia_is_whole() -> None:
    [russia] = [area.shape for area in read_areas("countries") if area.name == "Russia"]
    for inside in [(37.6, 55.8), (100.0, 67.0), (-175.0, 67.0), (179.0, 68.0)]:
        assert russia.contains(shapely.Point(inside)), inside
    assert not russia.intersects(shapely.Point(-30.0, 67.0))


def test_files_are_small() -> None:
    assert sum(data_file(name).stat().st_size for name in ROWS) < 1_600_000


def test_quakes_are_those_of_august_2015() -> None:
    quakes = read_quakes()
    assert quakes.time.min() >= np.datetime64("2015-08-01")
    assert quakes.time.max() < np.datetime64("2015-09-01")
    assert quakes.mag.max() == 6.6
    assert set(quakes.type) == {"earthquake", "quarry blast", "explosion"}
    assert pq.read_schema(data_file("earthquakes")).field("time").type == pa.timestamp("ms", "UTC")


def test_counties_carry_the_name_of_their_state() -> None:
    names = {area.id: area.name for area in read_areas("us_counties")}
    assert names["county-06097"] == "Sonoma, California"


def test_sources_and_licences_are_named() -> None:
    text = data_file("earthquakes").with_name("README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.parquet`" in text for name in ROWS)
    assert "Natural Earth" in text
    assert "Geological Survey" in text
    assert "Census Bureau" in text
