"""The real data that workloads are drawn from: what each file is, and where it is looked for.

Most of the files may not be shipped with Geocast, so they are named here, with their origin
and licence, and looked for in a folder that the user gives.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from geocast.errors import InputError

__all__ = ["ENVIRONMENT_VARIABLE", "FILES", "DataFile", "DataFolder"]

ENVIRONMENT_VARIABLE = "GEOCAST_DATA"

_ORDNANCE_SURVEY = "OS OpenData licence / Open Government Licence v3; coastline CC BY 4.0"
_STATISTICS = "Open Government Licence v3, OS OpenData licence; CC BY 4.0 for the GeoJSON"
_OPEN_STREET_MAP = "Open Database Licence (c) OpenStreetMap contributors"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of real data: its name without `.parquet`, what it holds, origin and licence.

    `columns` are those that workloads read; areas have a WKB column `geometry` in lon/lat.
    """

    name: str
    what: str
    columns: tuple[str, ...]
    origin: str
    licence: str

    def __str__(self) -> str:
        return f"{self.name}.parquet ({self.what}; from {self.origin}; {self.licence})"


def _areas(name: str, what: str, origin: str, licence: str) -> DataFile:
    return DataFile(name, what, ("geometry",), origin, licence)


_CATALOGUE = (
    DataFile(
        "gb_accidents_stats19_2015",
        "road accidents of Great Britain in 2015, one row each",
        ("lon", "lat", "speed_limit", "number_of_vehicles", "number_of_casualties"),
        "the Department for Transport's STATS19 release of 2015, table of accidents",
        "Open Government Licence v3 as published; the copy used states none",
    ),
    _areas(
        "gb_postcode_areas_codepoint",
        "postcode areas of Great Britain",
        "OS Code-Point Open 2014.3, Voronoi cells of the postcode units joined by area",
        _ORDNANCE_SURVEY,
    ),
    _areas(
        "gb_postcode_districts_codepoint",
        "postcode districts of Great Britain",
        "OS Code-Point Open 2014.3, Voronoi cells of the postcode units joined by district",
        _ORDNANCE_SURVEY,
    ),
    _areas(
        "gb_postcode_sectors_codepoint",
        "postcode sectors of Great Britain",
        "OS Code-Point Open 2014.3, Voronoi cells of the postcode units joined by sector",
        _ORDNANCE_SURVEY,
    ),
    _areas(
        "ew_lsoa_ons2011",
        "lower layer super output areas 2011 of England and Wales",
        "the Office for National Statistics, as GeoJSON by Martin Chorley",
        _STATISTICS,
    ),
    _areas(
        "eng_oa_ons2011_part",
        "census output areas 2011 of London and the non-metropolitan districts of England",
        "the Office for National Statistics, as GeoJSON by Martin Chorley",
        _STATISTICS,
    ),
    _areas(
        "osm_liechtenstein_polygons",
        "all polygons of Liechtenstein in OpenStreetMap",
        "an OpenStreetMap extract of Liechtenstein",
        _OPEN_STREET_MAP,
    ),
    _areas(
        "osm_firenze_buildings",
        "the buildings of Florence in OpenStreetMap",
        "OpenStreetMap vector tiles of Florence, zoom 14",
        _OPEN_STREET_MAP,
    ),
    DataFile(
        "sf_cabspotting_week",
        "GPS positions of 516 San Francisco taxis in a week of May 2008, by taxi and time",
        ("taxi_id", "t", "lon_e5", "lat_e5", "occupied"),
        "the CRAWDAD data set epfl/mobility (cabspotting)",
        "not stated; treated as research use, not to be redistributed",
    ),
    DataFile(
        "earthquakes_1965_2016",
        "significant earthquakes from 1965 to 2016",
        ("lon", "lat", "mag"),
        "the plotly data sets on GitHub",
        "MIT (the repository; origin of the data not stated)",
    ),
    _areas(
        "world_countries_10m",
        "countries of the world at 1:10 million",
        "Natural Earth, by way of the npm package world-atlas",
        "public domain (the package: ISC)",
    ),
    _areas(
        "world_countries_50m",
        "countries of the world at 1:50 million",
        "Natural Earth, by way of the npm package world-atlas",
        "public domain (the package: ISC)",
    ),
    _areas(
        "us_counties_10m",
        "counties of the United States",
        "the US Census Bureau's cartographic boundaries, by way of the npm package us-atlas",
        "US government work (the package: ISC)",
    ),
    _areas(
        "us_states_10m",
        "states of the United States",
        "the US Census Bureau's cartographic boundaries, by way of the npm package us-atlas",
        "US government work (the package: ISC)",
    ),
)

FILES: dict[str, DataFile] = {file.name: file for file in _CATALOGUE}
"""Every file that a workload may need, by name."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder in which the data files lie."""

    path: Path

    @classmethod
    def find(cls, option: Path | None) -> DataFolder:
        """Take the folder of the option, else that of the environment variable GEOCAST_DATA."""
        given = str(option) if option is not None else os.environ.get(ENVIRONMENT_VARIABLE, "")
        if not given:
            raise InputError(
                "the workloads are drawn from real data: name the folder that holds the files "
                f"with --data or the environment variable {ENVIRONMENT_VARIABLE}"
            )
        folder = Path(given)
        if not folder.is_dir():
            raise InputError(f"the data folder {given!r} does not exist or is not a folder")
        return cls(folder)

    def require(self, names: Iterable[str]) -> None:
        """Raise one InputError that lists every one of these files that is missing."""
        missing = [name for name in dict.fromkeys(names) if not self._file(name).is_file()]
        if missing:
            listed = ", ".join(str(FILES[name]) for name in missing)
            raise InputError(f"the data folder {str(self.path)!r} lacks {listed}")

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one of the files, or some of its columns."""
        self.require([name])
        try:
            return pq.read_table(self._file(name), columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot read {str(self._file(name))!r}: {error}") from None

    def geometries(self, name: str) -> NDArray[Any]:
        """Read the geometries of one of the files, as shapely objects."""
        table = self.table(name, ["geometry"])
        if "geometry" not in table.column_names:
            raise InputError(f"{str(self._file(name))!r} has no column 'geometry'")
        return np.asarray(shapely.from_wkb(table.column("geometry").to_numpy()))

    def positions(self, name: str) -> NDArray[np.float64]:
        """Read the columns lon and lat of one of the files, as an array of shape (n, 2)."""
        table = self.table(name, ["lon", "lat"])
        return np.column_stack([table["lon"].to_numpy(), table["lat"].to_numpy()])

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.parquet"
