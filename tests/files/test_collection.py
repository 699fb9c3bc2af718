from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.files import collection, input_size, read
from tests.files.samples import feature, only, records_of, write_json


def _collection(features: list[Any], **members: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", **members, "features": features}


def _write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _ids(path: Path) -> list[str]:
    return [record["id"] for record in records_of(path)]


_TWO = [feature("a"), feature("b")]
_NAMED = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
_LAYOUTS = {
    "compact": json.dumps(_collection(_TWO), separators=(",", ":")),
    "indented": json.dumps(_collection(_TWO), indent=4),
    "windows": json.dumps(_collection(_TWO), indent=4).replace("\n", "\r\n"),
    "type last": json.dumps({"features": _TWO, "type": "FeatureCollection"}),
    "members around": json.dumps(
        {"name": 'x{["', "crs": _NAMED, "bbox": [1, 2], **_collection(_TWO), "more": {"a": [1]}}
    ),
    "id first": json.dumps(_collection([{"id": f["id"], **f} for f in _TWO])),
    "surrounded by space": f"\n\n {json.dumps(_collection(_TWO))} \n\n",
}


@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_any_layout_is_read(layout: str, mark: bytes, tmp_path: Path) -> None:
    path = _write(tmp_path / "f.geojson", mark + _LAYOUTS[layout].encode())
    assert _ids(path) == ["a", "b"]


_awkward = st.text(st.sampled_from('{}[],:"\\ \n/a\u00e9'), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.dictionaries(_awkward, _awkward | st.lists(_awkward), max_size=3), max_size=12),
    st.sampled_from([None, 0, 2]),
    st.integers(1, 40),
)
def test_features_are_told_apart_whatever_their_texts_hold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    properties: list[dict[str, Any]],
    indent: int | None,
    read_size: int,
) -> None:
    monkeypatch.setattr(collection, "_READ", read_size)
    features = [feature(str(i), p=p) for i, p in enumerate(properties)]
    path = _write(tmp_path / "f.json", json.dumps(_collection(features), indent=indent))
    texts = list(collection.collection_texts(path))
    assert [json.loads(located.text) for located in texts] == features


def test_features_inside_features_are_not_mistaken(tmp_path: Path) -> None:
    inner = [feature(f"inner{i}") for i in range(3)]
    features = [feature(str(i), children=inner) for i in range(30)]
    path = write_json(tmp_path / "f.geojson", features)
    assert _ids(path) == [str(i) for i in range(30)]


def test_no_features_give_no_chunks(tmp_path: Path) -> None:
    path = _write(tmp_path / "f.geojson", json.dumps(_collection([])))
    assert list(read(path, "publications")) == []


def test_chunks_say_how_far_the_file_is_read(tmp_path: Path) -> None:
    path = write_json(tmp_path / "f.geojson", [feature(str(i)) for i in range(10)])
    chunks = list(read(path, "publications", batch_rows=4))
    assert [len(chunk.rows) for chunk in chunks] == [4, 4, 2]
    assert [row for chunk in chunks for row in chunk.rows] == list(range(10))
    positions = [chunk.position for chunk in chunks]
    assert positions == sorted(positions)
    assert input_size(path) - len("]}") == positions[-1]


_TEXT = json.dumps(_collection(_TWO))
_SECOND = _TEXT.index('{"type": "Feature", "id": "b"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("[]", "does not begin with `{` at byte 0"),
        ("PAR1", "does not begin with `{` at byte 0"),
        ('{"type": "FeatureCollection"}', "has no array `features`"),
        ('{"type": "FeatureCollection", "features": null}', "has no array `features`"),
        ('{"features": []}', "has no `type`; a FeatureCollection is expected"),
        (json.dumps(feature()), "its `type` is 'Feature'; a FeatureCollection is expected"),
        ('{"features": [], "type": "Topology"}', "its `type` is 'Topology'"),
        (_TEXT[:10], "the file ends in the middle of a value that begins at byte 9"),
        (_TEXT[:1], "the file breaks off at byte 1"),
        (
            _TEXT[: _SECOND + 20],
            f"the file ends in the middle of a value that begins at byte {_SECOND} (feature 1)",
        ),
        (_TEXT[: _SECOND - 1], "the file breaks off at byte"),
        (_TEXT[:-2], f"the file breaks off at byte {len(_TEXT) - 2} (feature 2)"),
        (_TEXT[:-1], f"the file breaks off at byte {len(_TEXT) - 1}"),
        (_TEXT + "x", f"more text after the end of the FeatureCollection at byte {len(_TEXT)}"),
        (_TEXT + _TEXT, "more text after the end"),
        (_TEXT.replace("}]}", "},]}"), "not JSON: expected a value at byte"),
        (_TEXT.replace("}, {", "} {"), "not JSON: expected `,` or `]` after a feature at byte"),
        (
            _TEXT.replace('"b"', "b"),
            f"(at character 26) of the feature at byte {_SECOND} (feature 1)",
        ),
        (_TEXT.replace('"type": "FeatureC', 'type: "FeatureC'), "expected a member name at byte 1"),
        (_TEXT.replace('", "features"', '" "features"'), "expected `,` or `}` after a member"),
        (_TEXT.replace('"features": ', '"features" '), "expected `:` after 'features'"),
        (_TEXT.replace('"FeatureCollection"', "Feature"), "not JSON: "),
        (_TEXT.encode("utf-16"), "is UTF-16 text; GeoJSON is UTF-8"),
    ],
)
def test_a_file_that_is_no_collection_is_refused_with_the_place(
    text: str | bytes, said: str, tmp_path: Path
) -> None:
    path = _write(tmp_path / "f.geojson", text)
    with pytest.raises(InputError) as caught:
        list(read(path, "publications"))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert said in message
    assert "\n" not in message


def test_what_stands_before_the_break_is_yielded(tmp_path: Path) -> None:
    text = json.dumps(_collection([feature(str(i)) for i in range(10)]))
    path = _write(tmp_path / "f.geojson", text[:-40])
    chunks = read(path, "publications", batch_rows=3)
    assert [next(chunks).rows.tolist() for _ in range(3)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    with pytest.raises(InputError, match=r"\(feature 9\)"):
        next(chunks)


def test_every_cut_of_a_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "f.geojson"
    for size in range(len(_TEXT)):
        _write(path, _TEXT[:size])
        with pytest.raises(InputError):
            list(read(path, "publications"))


def test_a_value_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "MAX_RECORD_BYTES", 1 << 20)
    path = _write(tmp_path / "f.geojson", '{"type": "' + "x" * (5 << 20))
    with pytest.raises(InputError, match="the value at byte 9 exceeds 1 MB"):
        list(read(path, "publications"))


@pytest.mark.parametrize("name", ["EPSG:27700", "urn:ogc:def:crs:EPSG::3857", "4326"])
def test_another_reference_system_is_refused(name: str, tmp_path: Path) -> None:
    crs = {"type": "name", "properties": {"name": name}}
    path = _write(tmp_path / "f.geojson", json.dumps(_collection(_TWO, crs=crs)))
    with pytest.raises(InputError, match=f"reference system is {name}; only lon/lat"):
        list(read(path, "publications"))


@pytest.mark.parametrize(
    "crs", [None, _NAMED, {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::4326"}}]
)
def test_lon_lat_is_accepted(crs: Any, tmp_path: Path) -> None:
    path = _write(tmp_path / "f.geojson", json.dumps(_collection(_TWO, crs=crs)))
    assert len(only(path).rows) == 2
