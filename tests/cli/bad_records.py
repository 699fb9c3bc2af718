"""Files in which every kind of bad record stands among good ones."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import shapely

__all__ = [
    "PUBLICATION_LINES",
    "PUBLICATION_ROWS",
    "SUBSCRIPTION_LINES",
    "SUBSCRIPTION_ROWS",
    "write_lines",
    "write_publications",
    "write_subscriptions",
]

BOWTIE = "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"
COLLECTION = "GEOMETRYCOLLECTION (POINT (1 1))"
INSIDE = "POINT (1 1)"
AREA = "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))"


def _wkb(text: str | bytes | None) -> bytes | None:
    if text is None or isinstance(text, bytes):
        return text
    return bytes(shapely.to_wkb(shapely.from_wkt(text)))


def _feature(name: object, geometry: object, **properties: object) -> str:
    feature = {"type": "Feature", "id": name, "geometry": geometry, "properties": properties}
    return json.dumps(feature)


def _shape(text: str) -> object:
    return json.loads(shapely.to_geojson(shapely.from_wkt(text)))


# (id, geometry, a word of the reason, or None for a good one)
PUBLICATION_ROWS: list[tuple[str | None, str | bytes | None, str | None]] = [
    ("first", INSIDE, None),
    ("unparsable", b"\x01\x02\x03", "WKB"),
    ("null", None, "null"),
    ("empty", "POLYGON EMPTY", "empty"),
    ("invalid", BOWTIE, "valid"),
    ("collection", COLLECTION, "GeometryCollection"),
    ("nan", "POINT (NaN 1)", "NaN"),
    ("infinite", "POINT (Infinity 1)", "inf"),
    ("east", "POINT (181 1)", "outside"),
    ("north", "POINT (1 91)", "outside"),
    ("first", INSIDE, "duplicate"),
    (None, INSIDE, "id"),
    ("last", INSIDE, None),
]

PUBLICATION_LINES: list[tuple[str, str | None]] = [
    (_feature("first", _shape(INSIDE)), None),
    ("{ this is not JSON", "JSON"),
    ("[1, 2]", "Feature"),
    (_feature("null", None), "null"),
    (_feature("empty", {"type": "Polygon", "coordinates": []}), "empty"),
    (_feature("invalid", _shape(BOWTIE)), "valid"),
    (_feature("collection", _shape(COLLECTION)), "GeometryCollection"),
    (_feature("nan", {"type": "Point", "coordinates": [float("nan"), 1]}), ""),
    (_feature("text", {"type": "Point", "coordinates": ["one", 1]}), ""),
    (_feature("kind", {"type": "Circle", "coordinates": [1, 1]}), "Circle"),
    (_feature("east", _shape("POINT (181 1)")), "outside"),
    (_feature("first", _shape(INSIDE)), "duplicate"),
    (_feature(None, _shape(INSIDE)), "id"),
    (_feature(["a"], _shape(INSIDE)), "id"),
    (_feature("last", _shape(INSIDE)), None),
    ('{"type": "Feature", "id": "cut off", "geome', "JSON"),
]

# (id, geometry, predicate, filter, a word of the reason, or None for a good one)
SUBSCRIPTION_ROWS: list[
    tuple[str | None, str | bytes | None, str | None, str | None, str | None]
] = [
    ("area", AREA, "intersects", None, None),
    ("unparsable", b"\x01\x02\x03", "intersects", None, "WKB"),
    ("nothing", None, None, None, ""),
    ("empty", "POLYGON EMPTY", "within", None, "empty"),
    ("invalid", BOWTIE, "within", None, "valid"),
    ("collection", COLLECTION, "within", None, "GeometryCollection"),
    ("nan", "POINT (NaN 1)", "within", None, "NaN"),
    ("east", "POINT (181 1)", "within", None, "outside"),
    ("area", AREA, "intersects", None, "already"),
    (None, AREA, "intersects", None, "id"),
    ("predicate", AREA, "near", None, "near"),
    ("filter", AREA, "intersects", "mag >", "filter"),
    ("function", None, None, "NOWHERE(geometry)", "NOWHERE"),
    ("whole", None, None, "S_WITHIN(geometry, POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0)))", None),
]

SUBSCRIPTION_LINES: list[tuple[str, str | None]] = [
    (_feature("area", _shape(AREA), predicate="intersects"), None),
    ("{ this is not JSON", "JSON"),
    (_feature("predicate", _shape(AREA), predicate=7), "predicate"),
    (_feature("filter", _shape(AREA), filter=[1]), "filter"),
    (_feature("json", _shape(AREA), filter={"op": "nonsense", "args": []}), "nonsense"),
    (_feature("area", _shape(AREA)), "already"),
    (
        _feature("whole", None, filter=f"S_WITHIN(geometry, {AREA})"),
        None,
    ),
]


def write_publications(path: Path) -> None:
    columns = {
        "id": pa.array([row[0] for row in PUBLICATION_ROWS], pa.string()),
        "geometry": pa.array([_wkb(row[1]) for row in PUBLICATION_ROWS], pa.binary()),
        "mag": pa.array([1.0] * len(PUBLICATION_ROWS)),
    }
    pq.write_table(pa.table(columns), path, row_group_size=5)


def write_subscriptions(path: Path) -> None:
    columns = {
        "id": pa.array([row[0] for row in SUBSCRIPTION_ROWS], pa.string()),
        "geometry": pa.array([_wkb(row[1]) for row in SUBSCRIPTION_ROWS], pa.binary()),
        "predicate": pa.array([row[2] for row in SUBSCRIPTION_ROWS], pa.string()),
        "filter": pa.array([row[3] for row in SUBSCRIPTION_ROWS], pa.string()),
    }
    pq.write_table(pa.table(columns), path)


def write_lines(path: Path, lines: list[tuple[str, str | None]]) -> None:
    path.write_text("\n".join(line for line, _ in lines))
