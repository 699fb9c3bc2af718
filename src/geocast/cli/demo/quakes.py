"""The shipped data as the demonstration reads them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

__all__ = ["Area", "Quakes", "data_file", "read_areas", "read_quakes"]

Objects = NDArray[np.object_]


@dataclass(frozen=True)
class Area:
    """A country, state or county: its id, its name as people say it, and its shape."""

    id: str
    name: str
    shape: Any


@dataclass(frozen=True)
class Quakes:
    """Columns of the publications as plain numpy arrays, in the order of the file."""

    id: Objects
    points: Objects
    time: NDArray[np.datetime64]
    mag: NDArray[np.float64]
    depth: NDArray[np.float64]
    place: Objects
    type: Objects

    def __len__(self) -> int:
        return len(self.id)

    @property
    def lon(self) -> NDArray[np.float64]:
        """Longitudes in degrees."""
        return np.asarray(shapely.get_x(self.points), dtype=np.float64)

    @property
    def lat(self) -> NDArray[np.float64]:
        """Latitudes in degrees."""
        return np.asarray(shapely.get_y(self.points), dtype=np.float64)


def data_file(name: str) -> Path:
    """Return the path of a shipped data file."""
    return Path(str(files("geocast") / "data" / f"{name}.parquet"))


def read_quakes() -> Quakes:
    """Read the earthquakes."""
    table = pq.read_table(data_file("earthquakes"))
    return Quakes(
        id=_objects(table["id"]),
        points=shapely.from_wkb(_objects(table["geometry"])),
        time=table["time"].to_numpy(),
        mag=table["mag"].to_numpy(),
        depth=table["depth"].to_numpy(),
        place=_objects(table["place"]),
        type=_objects(table["type"]),
    )


def read_areas(name: str) -> list[Area]:
    """Read one of `countries`, `us_states`, `us_counties`."""
    table = pq.read_table(data_file(name))
    names = table["name"].to_pylist()
    if "state" in table.column_names:
        states = table["state"].to_pylist()
        names = [f"{county}, {state}" for county, state in zip(names, states, strict=True)]
    shapes = shapely.from_wkb(_objects(table["geometry"]))
    return [Area(*row) for row in zip(table["id"].to_pylist(), names, shapes, strict=True)]


def _objects(column: pa.ChunkedArray) -> Objects:
    return np.array(column.to_pylist(), dtype=object)
