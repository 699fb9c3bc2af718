"""Tiny files with the columns of the real ones, for tests of workloads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from geocast.bench.data import FILES

__all__ = ["write_fake_data"]


def write_fake_data(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        pq.write_table(_MAKERS.get(name, _tiles(4))(), folder / f"{name}.parquet")


def _tiles(side: int) -> Callable[[], pa.Table]:
    """Squares that tile a field of 8 x 8 degrees; one corner of each is cut off."""

    def make() -> pa.Table:
        size = 8 / side
        squares = [
            [(x, y), (x + size, y), (x + size, y + size), (x + size / 4, y + size)]
            for x in np.arange(side) * size
            for y in np.arange(side) * size
        ]
        return pa.table({"geometry": shapely.to_wkb(shapely.polygons(squares))})

    return make


def _accidents() -> pa.Table:
    step = np.arange(300)
    return pa.table(
        {
            "lon": (step * 37 % 299) / 299 * 8,
            "lat": (step * 101 % 293) / 293 * 8,
            "speed_limit": pa.array(20 + step % 6 * 10, pa.int8()),
            "number_of_vehicles": pa.array(1 + step % 4, pa.int8()),
            "number_of_casualties": pa.array(1 + step % 3, pa.int8()),
        }
    )


def _taxis() -> pa.Table:
    step = np.arange(600)
    return pa.table(
        {
            "taxi_id": pa.array(step // 200, pa.int16()),
            "t": pa.array(step * 60, pa.int32()),
            "lon_e5": pa.array(-12250000 + step * 7 % 90 * 100, pa.int32()),
            "lat_e5": pa.array(3770000 + step * 11 % 80 * 100, pa.int32()),
            "occupied": step // 5 % 2 == 0,
        }
    )


def _quakes() -> pa.Table:
    step = np.arange(100)
    return pa.table({"lon": step * 7 % 97 / 12, "lat": step * 5 % 89 / 11, "mag": step % 9 / 1.0})


_MAKERS = {
    "gb_accidents_stats19_2015": _accidents,
    "gb_postcode_areas_codepoint": _tiles(2),
    "gb_postcode_districts_codepoint": _tiles(4),
    "gb_postcode_sectors_codepoint": _tiles(8),
    "eng_oa_ons2011_part": _tiles(16),
    "sf_cabspotting_week": _taxis,
    "earthquakes_1965_2016": _quakes,
}
