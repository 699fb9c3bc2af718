"""Make the data files that Geocast ships for its demonstration.

    python scripts/make_demo_data.py FOLDER

FOLDER holds the four sources (see src/geocast/data/README.md for where they come from):
usgs_earthquakes_2015_08.parquet, us_states_10m.parquet, us_counties_10m.parquet, and
countries-50m.json of the npm package world-atlas. The same sources give the same files.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import shapely
import topojson

from geocast.files import write_features

__all__ = ["main"]

Row = tuple[str | None, str, Any]

TARGET = Path(__file__).parents[1] / "src" / "geocast" / "data"


def main(folder: Path) -> None:
    """Write the four files and say how large they are."""
    countries = areas(topojson.read(folder / "countries-50m.json", "countries"), "country")
    states = areas(rows(folder / "us_states_10m.parquet"), "state")
    counties = areas(rows(folder / "us_counties_10m.parquet"), "county")
    save("earthquakes", earthquakes(folder / "usgs_earthquakes_2015_08.parquet"))
    save("countries", countries)
    save("us_states", states)
    save("us_counties", with_states(counties, states))


def earthquakes(path: Path) -> pa.Table:
    """Return the quakes as publications: id, a point, and what one may ask about them."""
    source = pq.read_table(path).replace_schema_metadata(None)
    points = shapely.points(source["lon"].to_numpy(), source["lat"].to_numpy())
    utc = pa.timestamp("ms", tz="UTC")
    columns = {
        "id": source["id"].cast(pa.string()),
        "geometry": wkb(points),
        "time": source["time"].cast(utc),
        "mag": source["mag"],
        "depth": source["depth"],
        "place": source["place"].cast(pa.string()),
        "type": source["type"].cast(pa.string()),
        "network": source["net"].cast(pa.string()),
    }
    return pa.table(columns)


def rows(path: Path) -> Iterator[Row]:
    """Yield id, name and shape of every row of a GeoParquet file."""
    source = pq.read_table(path)
    shapes = shapely.from_wkb(source["geometry"].to_numpy(zero_copy_only=False))
    return zip(source["id"].to_pylist(), source["name"].to_pylist(), shapes, strict=True)


def areas(rows: Iterable[Row], kind: str) -> pa.Table:
    """Return areas as id (`kind-code`), geometry and name, ordered by id."""
    codes, names, shapes = zip(*rows, strict=True)
    ids: list[str] = []
    for code, name in zip(codes, names, strict=True):
        plain = f"{kind}-{code}"
        ids.append(plain if code is not None and plain not in ids else f"{kind}-{slug(name)}")
    return pa.table({"id": ids, "geometry": wkb(np.array(shapes)), "name": names}).sort_by("id")


def with_states(counties: pa.Table, states: pa.Table) -> pa.Table:
    """Add the name of the state, whose code is the beginning of a county's code."""
    names = dict(zip(states["id"].to_pylist(), states["name"].to_pylist(), strict=True))
    codes = pc.utf8_slice_codeunits(counties["id"], len("county-"), len("county-00"))
    return counties.append_column("state", pa.array([names[f"state-{c.as_py()}"] for c in codes]))


def slug(name: str) -> str:
    """Return a name as it may stand in an id: `Indian Ocean Ter.` is `indian-ocean-ter`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def wkb(geometries: np.ndarray[Any, Any]) -> pa.Array:
    """Return geometries as little-endian 2-D WKB."""
    encoded = shapely.to_wkb(geometries, output_dimension=2, byte_order=1)
    return pa.array(list(encoded), pa.binary())


def save(name: str, table: pa.Table) -> None:
    """Write one GeoParquet file, packed as tightly as Parquet can."""
    path = TARGET / f"{name}.parquet"
    rows = write_features(path, [table])
    described = table.replace_schema_metadata({"geo": pq.read_metadata(path).metadata[b"geo"]})
    pq.write_table(described, path, compression="zstd", compression_level=19)
    print(f"{path.name}: {rows:,} rows, {path.stat().st_size / 1e3:,.0f} kB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
