from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from geocast.errors import InputError
from geocast.files import input_size, parquet, read
from tests.files.samples import only, point_wkb, records_of, rejects_of, write_parquet

_POINTS = [point_wkb(i, i) for i in range(3)]


def _write_geo(path: Path, geo: Any, name: str = "geometry") -> Path:
    table = pa.table({"id": ["a"], name: [point_wkb()]})
    text = geo if isinstance(geo, bytes) else json.dumps(geo).encode()
    pq.write_table(table.replace_schema_metadata({b"geo": text}), path)
    return path


def _geo(name: str = "geometry", **described: Any) -> dict[str, Any]:
    columns = {name: {"encoding": "WKB", "geometry_types": [], **described}}
    return {"version": "1.1.0", "primary_column": name, "columns": columns}


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pa.array(["a", "b", "c"]), ["a", "b", "c"]),
        (pa.array(["a", "b", "c"], pa.large_string()), ["a", "b", "c"]),
        (pa.array(["a", "b", "c"], pa.string_view()), ["a", "b", "c"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([1, -2, 2**63 - 1]), ["1", "-2", "9223372036854775807"]),
        (pa.array([1, 2, 2**64 - 1], pa.uint64()), ["1", "2", "18446744073709551615"]),
        (pa.array([1, 2, 3], pa.int8()), ["1", "2", "3"]),
        (pa.array([1, 2, 1]).dictionary_encode(), ["1", "2", "1"]),
        (pa.array([1.0, 2.5, 1e6]), ["1", "2.5", "1000000"]),
    ],
)
def test_ids_of_any_type_become_text(ids: pa.Array, expected: list[str], tmp_path: Path) -> None:
    chunk = only(write_parquet(tmp_path / "f.parquet", id=ids, geometry=_POINTS))
    assert chunk.batch.column("id").to_pylist() == expected
    assert chunk.batch.schema.field("id").type == pa.string()
    assert chunk.batch.schema.field("geometry").type == pa.binary()


@pytest.mark.parametrize(
    "geometry",
    [
        pa.array(_POINTS, pa.large_binary()),
        pa.array(_POINTS, pa.binary(21)),
        pa.array(_POINTS, pa.binary_view()),
        pa.array(_POINTS).dictionary_encode(),
        pa.array([shapely.to_wkb(shapely.Point(i, i), byte_order=0) for i in range(3)]),
    ],
)
def test_geometries_of_any_binary_type(geometry: pa.Array, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "f.geoparquet", id=[1, 2, 3], geometry=geometry)
    assert only(path).batch.column("geometry").to_pylist() == _POINTS


def test_bad_rows_are_rejected_and_their_neighbours_survive(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "f.parquet",
        id=["a", None, "c", "d", "e", None],
        geometry=[point_wkb(), point_wkb(), None, b"junk", point_wkb(), None],
        mag=[1, 2, 3, 4, 5, 6],
    )
    chunk = only(path)
    assert chunk.batch.column("id").to_pylist() == ["a", "e"]
    assert chunk.batch.column("mag").to_pylist() == [1, 5]
    assert chunk.rows.tolist() == [0, 4]
    found = [(reject.row, reject.id, reject.reason.split(":")[0]) for reject in chunk.rejects]
    assert found == [
        (1, None, "no id"),
        (2, "c", "the geometry is null"),
        (3, "d", "the geometry is not WKB"),
        (5, None, "the geometry is null"),
    ]


def test_an_id_that_is_not_utf8_is_rejected_alone(tmp_path: Path) -> None:
    ids = pa.array([b"a", b"\xff", b"c"]).view(pa.string())
    path = write_parquet(tmp_path / "f.parquet", id=ids, geometry=_POINTS)
    assert [r["id"] for r in records_of(path)] == ["a", "c"]
    (reject,) = rejects_of(path)
    assert (reject.row, reject.id, reject.reason) == (1, None, "`id` is not UTF-8 text")


def test_properties_keep_their_types(tmp_path: Path) -> None:
    columns = {
        "time": pa.array([1, 2, None], pa.timestamp("us", "UTC")),
        "tags": pa.array([["x"], [], None]),
        "depth": pa.array([{"m": 1.5}, None, {"m": 2.5}]),
        "kind": pa.array(["p", "q", "p"]).dictionary_encode(),
    }
    path = write_parquet(tmp_path / "f.parquet", **columns, id=[1, 2, 3], geometry=_POINTS)
    batch = only(path).batch
    assert batch.schema.names == ["id", "geometry", *columns]
    for name, values in columns.items():
        assert batch.column(name).to_pylist() == values.to_pylist()
        assert batch.column(name).type == values.type


def test_only_the_wanted_columns_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(
        tmp_path / "f.parquet", id=["a"], geometry=[point_wkb()], x=[1], y=[{"u": 1, "v": 2}], z=[3]
    )
    asked: list[list[str]] = []
    original = pq.ParquetFile.iter_batches

    def spy(self: pq.ParquetFile, *, columns: list[str], **options: Any) -> Any:
        asked.append(columns)
        return original(self, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    assert only(path, columns=["z", "none"]).batch.schema.names == ["id", "geometry", "z"]
    assert only(path, columns=["y.u"]).batch.schema.names == ["id", "geometry", "y"]
    assert only(path, columns=()).batch.schema.names == ["id", "geometry"]
    assert asked == [["id", "geometry", "z"], ["id", "geometry", "y"], ["id", "geometry"]]


@pytest.mark.parametrize(
    "described",
    [
        {},
        {"crs": None},
        {"crs": {"name": "x", "id": {"authority": "OGC", "code": "CRS84"}}},
        {"crs": {"name": "x", "id": {"authority": "EPSG", "code": 4326}}},
        {"crs": {"name": "WGS 84"}},
        {"crs": "OGC:CRS84"},
        {"edges": "spherical", "geometry_types": ["Point"]},
    ],
)
def test_metadata_that_say_lon_lat(described: dict[str, Any], tmp_path: Path) -> None:
    path = _write_geo(tmp_path / "f.parquet", _geo(**described))
    assert records_of(path) == [{"id": "a", "geometry": point_wkb()}]


def test_the_primary_column_becomes_the_geometry(tmp_path: Path) -> None:
    path = _write_geo(tmp_path / "f.parquet", _geo("shape"), "shape")
    assert records_of(path) == [{"id": "a", "geometry": point_wkb()}]


@pytest.mark.parametrize(
    ("geo", "said"),
    [
        (
            _geo(crs={"name": "OSGB36", "id": {"authority": "EPSG", "code": 27700}}),
            "its coordinate reference system is EPSG:27700 (OSGB36); only lon/lat on WGS 84",
        ),
        (_geo(crs={"name": "ETRS89"}), "its coordinate reference system is ETRS89"),
        (_geo(crs="EPSG:3857"), "its coordinate reference system is EPSG:3857"),
        (_geo(crs=7), "its coordinate reference system is 7"),
        (_geo(encoding="point"), "geometries are encoded as point; only WKB is understood"),
        (_geo(edges="spherical"), "its edges are spherical; only straight edges"),
        (_geo("shape"), "its primary geometry column 'shape' does not exist"),
        (b"{", "its GeoParquet metadata (key `geo`) are damaged"),
        (b"[]", "its GeoParquet metadata (key `geo`) are damaged"),
        ({"primary_column": "x", "columns": {}}, "its GeoParquet metadata (key `geo`) are damaged"),
    ],
)
def test_metadata_that_forbid_reading(geo: Any, said: str, tmp_path: Path) -> None:
    path = _write_geo(tmp_path / "f.parquet", geo)
    with pytest.raises(InputError) as caught:
        list(read(path, "publications"))
    assert str(caught.value).startswith(f"{path}: {said}")


class _NativeGeometry(pa.ExtensionType):  # type: ignore[misc]
    """What makes Arrow write Parquet's own GEOMETRY type."""

    def __init__(self, crs: str) -> None:
        self._crs = crs
        super().__init__(pa.binary(), "geoarrow.wkb")

    def __arrow_ext_serialize__(self) -> bytes:
        return json.dumps({"crs": self._crs} if self._crs else {}).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, text: bytes) -> _NativeGeometry:
        return cls(json.loads(text).get("crs", ""))


@pytest.mark.parametrize(("crs", "fine"), [("", True), ("OGC:CRS84", True), ("EPSG:27700", False)])
@pytest.mark.parametrize("registered", [True, False])
def test_the_native_geometry_type(crs: str, fine: bool, registered: bool, tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pa.register_extension_type(_NativeGeometry(""))
    try:
        column = pa.ExtensionArray.from_storage(_NativeGeometry(crs), pa.array([point_wkb()]))
        pq.write_table(pa.table({"id": ["a"], "geometry": column}), path, store_schema=False)
        found = records_of(path) if registered and fine else None
    finally:
        pa.unregister_extension_type("geoarrow.wkb")
    if not fine:
        with pytest.raises(InputError, match="reference system is EPSG:27700"):
            records_of(path)
    else:
        assert (found or records_of(path)) == [{"id": "a", "geometry": point_wkb()}]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"name": ["a"]}, "no column `id`; columns: name"),
        ({"id": ["a"], "lon": [1.0]}, "no column `geometry`; columns: id, lon"),
        ({f"c{i}": [1] for i in range(20)}, "c8, c9, ..."),
        ({"id": [True], "geometry": [b""]}, "the column 'id' holds bool; text is expected"),
        ({"id": ["a"], "geometry": ["POINT (1 2)"]}, "'geometry' holds string; WKB (binary)"),
    ],
)
def test_columns_that_cannot_be_used(columns: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "f.parquet", **columns)
    with pytest.raises(InputError) as caught:
        list(read(path, "publications"))
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    arrays = [pa.array(["a"]), pa.array([point_wkb()]), pa.array([1]), pa.array([2])]
    pq.write_table(pa.Table.from_arrays(arrays, names=["id", "geometry", "x", "x"]), path)
    with pytest.raises(InputError, match="several columns are named 'x'"):
        list(read(path, "publications"))


def test_a_second_geometry_by_the_reserved_name_is_refused(tmp_path: Path) -> None:
    table = pa.table({"id": ["a"], "shape": [point_wkb()], "geometry": [point_wkb()]})
    geo = json.dumps(_geo("shape")).encode()
    pq.write_table(table.replace_schema_metadata({b"geo": geo}), tmp_path / "f.parquet")
    with pytest.raises(InputError, match="`geometry` is not its primary one, 'shape'"):
        list(read(tmp_path / "f.parquet", "publications"))


def test_a_file_that_breaks_off_is_refused(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "f.parquet", id=["a"] * 999, geometry=[point_wkb()] * 999)
    data = path.read_bytes()
    for size in (5, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(InputError) as caught:
            list(read(path, "publications"))
        assert str(caught.value) == (
            f"{path}: is a Parquet file that breaks off: its end is missing"
        )


def test_damage_in_the_middle_is_refused(tmp_path: Path) -> None:
    ids = [str(i * 7919) for i in range(20_000)]
    path = write_parquet(tmp_path / "f.parquet", id=ids, geometry=[point_wkb()] * 20_000)
    data = path.read_bytes()
    path.write_bytes(data[:4] + b"\xff" * 2_000 + data[2_004:])
    with pytest.raises(InputError) as caught:
        list(read(path, "publications"))
    assert str(caught.value).startswith(f"{path}: is a damaged Parquet file: ")
    assert "\n" not in str(caught.value)


def test_other_contents_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    for data, said in ((b"", "is empty; a Parquet file is expected"), (b"{}", "is not a Parquet")):
        path.write_bytes(data)
        with pytest.raises(InputError, match=said):
            list(read(path, "publications"))


def test_a_folder_of_parts_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name, ids in (("part-1.parquet", ["c", None]), ("part-0.parquet", ["a", "b"])):
        write_parquet(tmp_path / name, id=ids, geometry=[point_wkb()] * 2)
    write_parquet(tmp_path / "part-2.parquet", id=["e"], geometry=[point_wkb()])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.parquet.crc").touch()
    (tmp_path / "_temporary").mkdir()
    chunks = list(read(tmp_path, "publications"))
    assert [i for c in chunks for i in c.batch.column("id").to_pylist()] == ["a", "b", "c", "e"]
    assert [row for c in chunks for row in c.rows] == [0, 1, 2, 4]
    assert [r.row for c in chunks for r in c.rejects] == [3]
    assert chunks[-1].position == input_size(tmp_path)


def test_folders_without_parts_or_with_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder without Parquet parts"):
        list(read(tmp_path, "publications"))
    (tmp_path / "year=2015").mkdir()
    with pytest.raises(InputError, match="has folders inside"):
        list(read(tmp_path, "publications"))


def test_rows_and_positions_go_on_from_chunk_to_chunk(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "f.parquet", id=list(range(10)), geometry=[point_wkb()] * 9 + [None]
    )
    chunks = list(read(path, "publications", batch_rows=4))
    assert [chunk.rows.tolist() for chunk in chunks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8]]
    assert [chunk.position for chunk in chunks] == [
        input_size(path) * done // 10 for done in (4, 8, 10)
    ]


def test_wide_rows_make_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 10_000)
    wide = [bytes([i]) * 1_000 for i in range(100)]
    path = write_parquet(
        tmp_path / "f.parquet", id=list(range(100)), geometry=[point_wkb()] * 100, wide=wide
    )
    assert max(len(chunk.rows) for chunk in read(path, "publications")) < 15
    assert len(only(path, columns=()).rows) == 100


def test_no_rows_give_no_chunks(tmp_path: Path) -> None:
    empty = pa.array([], pa.string())
    path = write_parquet(tmp_path / "f.parquet", id=empty, geometry=pa.array([], pa.binary()))
    assert list(read(path, "publications")) == []
