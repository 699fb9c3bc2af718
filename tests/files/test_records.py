"""Bad records in GeoJSON: each becomes a reject with a reason, and its neighbours survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geocast.errors import InputError
from tests.files.samples import JSON_SUFFIXES, feature, only, records_of, rejects_of, write_json

_OPEN = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}
_DEEP = "[" * 2_000 + "]" * 2_000


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in feature("b").items() if key != name}


BAD: dict[str, tuple[Any, str | None, str]] = {
    "number": (7, None, "not a GeoJSON Feature but the number 7"),
    "null": ("null", None, "not a GeoJSON Feature but null"),
    "array": ([1], None, "not a GeoJSON Feature but an array"),
    "text": ('"b"', None, "not a GeoJSON Feature but the text 'b'"),
    "no type": (_without("type"), "b", "not a GeoJSON Feature: it has no `type`"),
    "a geometry": (
        {"type": "Point", "coordinates": [1, 2]},
        None,
        "not a GeoJSON Feature: its `type` is 'Point'",
    ),
    "a collection": (
        {"type": "FeatureCollection", "features": []},
        None,
        "a FeatureCollection where a single Feature is expected",
    ),
    "no id": (_without("id"), None, "no id: neither a member `id` nor a property `id`"),
    "null id": (feature(None), None, "no id: neither a member `id` nor a property `id`"),
    "id of wrong type": (feature(["b"]), None, "the id is an array; it must be text or a number"),
    "true as id": (feature(True), None, "the id is true; it must be text or a number"),
    "no geometry": (_without("geometry"), "b", "no geometry"),
    "null geometry": ({**feature("b"), "geometry": None}, "b", "the geometry is null"),
    "open ring": (feature("b", _OPEN), "b", "ring coordinates[0] is not closed"),
    "properties": ({**feature("b"), "properties": [1]}, "b", "`properties` is an array"),
    "property geometry": (
        feature("b") | {"properties": {"geometry": 1}},
        "b",
        "a property may not be named `geometry`",
    ),
    "too deep": (_DEEP, None, "JSON nested too deeply (more than 1024 levels)"),
    "deep property": (
        json.dumps(feature("b", x=0)).replace("0}", "[" * 200 + "]" * 200 + "}"),
        "b",
        "properties nested beyond 100 levels",
    ),
}


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_record_is_rejected_and_its_neighbours_survive(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    record, name, reason = BAD[kind]
    path = write_json(tmp_path / f"f{suffix}", [feature("a"), record, feature("c")])
    chunk = only(path)
    assert chunk.batch.column("id").to_pylist() == ["a", "c"]
    assert chunk.rows.tolist() == [0, 2]
    (reject,) = chunk.rejects
    assert (reject.side, reject.row, reject.id) == ("publications", 1, name)
    assert reject.reason.startswith(reason)
    assert "\n" not in reject.reason


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
def test_text_that_is_not_utf8_is_rejected_alone(suffix: str, tmp_path: Path) -> None:
    path = write_json(tmp_path / f"f{suffix}", [feature(name) for name in "abc"])
    path.write_bytes(path.read_bytes().replace(b'"b"', b'"\xff"'))
    assert [r["id"] for r in records_of(path)] == ["a", "c"]
    (reject,) = rejects_of(path)
    assert reject.row == 1
    assert reject.reason.startswith("not UTF-8: byte ")


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"x"', "x"),
        ('""', ""),
        ("10", "10"),
        ("-3", "-3"),
        ("10.0", "10.0"),
        ("1e3", "1e3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("18446744073709551615", "18446744073709551615"),
    ],
)
def test_a_number_as_id_is_its_text_as_written(
    written: str, expected: str, suffix: str, tmp_path: Path
) -> None:
    template = json.dumps(feature("ID", mag=1.0))
    member = template.replace('"ID"', written)
    moved = template.replace('"id": "ID", ', "").replace(
        '"mag": 1.0', f'"id": {written}, "mag": 1.0'
    )
    path = write_json(tmp_path / f"f{suffix}", [member, moved])
    assert [r["id"] for r in records_of(path)] == [expected, expected]
    assert only(path).batch.schema.names == ["id", "geometry", "mag"]


def test_the_member_id_goes_before_the_property(tmp_path: Path) -> None:
    both = feature("member") | {"properties": {"id": "property", "a": 1}}
    path = write_json(tmp_path / "f.ndjson", [both])
    (record,) = records_of(path)
    assert record["id"] == "member"
    assert set(record) == {"id", "geometry", "a"}


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
def test_properties_may_be_null_or_missing(suffix: str, tmp_path: Path) -> None:
    records = [{**feature("a"), "properties": None}, _without("properties")]
    path = write_json(tmp_path / f"f{suffix}", records)
    assert [set(r) for r in records_of(path)] == [{"id", "geometry"}] * 2


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
def test_only_the_wanted_properties_are_there(suffix: str, tmp_path: Path) -> None:
    path = write_json(tmp_path / f"f{suffix}", [feature("a", x=1, y=2, z={"u": 1, "v": 2})])
    assert only(path, columns=["y", "none"]).batch.schema.names == ["id", "geometry", "y"]
    assert only(path, columns=["z.u"]).batch.schema.names == ["id", "geometry", "z"]
    assert only(path, columns=[]).batch.schema.names == ["id", "geometry"]


def test_batch_rows_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="batch_rows is 0"):
        only(write_json(tmp_path / "f.ndjson", [feature()]), batch_rows=0)
