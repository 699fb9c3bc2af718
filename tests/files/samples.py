"""Features to write into files, and short ways to read them back."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from geocast.files import Chunk, read
from geocast.model import Reject, Side

__all__ = [
    "GEOMETRIES",
    "JSON_SUFFIXES",
    "SUFFIXES",
    "coordinates",
    "feature",
    "geometries",
    "only",
    "point_wkb",
    "records_of",
    "rejects_of",
    "write_json",
    "write_parquet",
]

JSON_SUFFIXES = (".geojson", ".json", ".geojsonl", ".geojsons", ".ndjson")
SUFFIXES = (".parquet", ".geoparquet", *JSON_SUFFIXES)

_SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
_HOLE = [[1, 1], [1, 2], [2, 2], [2, 1], [1, 1]]
GEOMETRIES: dict[str, Any] = {
    "Point": [1.5, 2],
    "LineString": [[0, 0], [1, 1], [2, 0.25]],
    "Polygon": [_SQUARE, _HOLE],
    "MultiPoint": [[0, 0], [1, 1]],
    "MultiLineString": [[[0, 0], [1, 1]], [[2, 2], [3, 3]]],
    "MultiPolygon": [[_SQUARE, _HOLE], [_SQUARE]],
}


def feature(identifier: Any = "a", geometry: Any = None, **properties: Any) -> dict[str, Any]:
    if geometry is None:
        geometry = {"type": "Point", "coordinates": [1, 2]}
    return {"type": "Feature", "id": identifier, "geometry": geometry, "properties": properties}


def point_wkb(x: float = 1, y: float = 2) -> bytes:
    return struct.pack("<BIdd", 1, 1, x, y)


def write_json(path: Path, records: Sequence[Any]) -> Path:
    """Write records, given as JSON values or as raw text, in the format of the suffix."""
    texts = [r if isinstance(r, str) else json.dumps(r) for r in records]
    if path.suffix in (".geojson", ".json"):
        path.write_text('{"type": "FeatureCollection", "features": [' + ", ".join(texts) + "]}")
    else:
        path.write_text("".join(text + "\n" for text in texts))
    return path


def write_parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def only(path: Path, side: Side = "publications", **options: Any) -> Chunk:
    """Return the only chunk of a small file."""
    (chunk,) = read(path, side, **options)
    return chunk


def records_of(path: Path, side: Side = "publications", **options: Any) -> list[dict[str, Any]]:
    return [r for chunk in read(path, side, **options) for r in chunk.batch.to_pylist()]


def rejects_of(path: Path, side: Side = "publications") -> list[Reject]:
    return [reject for chunk in read(path, side) for reject in chunk.rejects]


coordinates = st.floats(-180, 180, allow_nan=False)
_position = st.lists(coordinates, min_size=2, max_size=2)
_line = st.lists(_position, min_size=2, max_size=5)
_ring = st.lists(_position, min_size=3, max_size=6).map(lambda ring: [*ring, ring[0]])
_polygon = st.lists(_ring, min_size=1, max_size=3)

geometries: st.SearchStrategy[dict[str, Any]] = st.one_of(
    [
        strategy.map(lambda c, name=name: {"type": name, "coordinates": c})  # type: ignore[misc]
        for name, strategy in {
            "Point": _position,
            "LineString": _line,
            "Polygon": _polygon,
            "MultiPoint": st.lists(_position, min_size=1, max_size=4),
            "MultiLineString": st.lists(_line, min_size=1, max_size=3),
            "MultiPolygon": st.lists(_polygon, min_size=1, max_size=3),
        }.items()
    ]
)
