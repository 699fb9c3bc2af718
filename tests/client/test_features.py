from __future__ import annotations

from collections import UserDict
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import orjson
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geocast.client.features import Chunk, Chunks, encode, geometry_of, make_feature
from geocast.client.publishing import several
from geocast.errors import InputError

POINT = {"type": "Point", "coordinates": [1.0, 2.0]}


class Place:
    @property
    def __geo_interface__(self) -> dict[str, Any]:
        return {"type": "Feature", "id": 7, "geometry": POINT, "properties": {"a": 1}}


@pytest.mark.parametrize(
    ("given", "properties"),
    [
        (POINT, {}),
        (shapely.Point(1, 2), {}),
        ((POINT, {"a": 1}), {"a": 1}),
        ((shapely.Point(1, 2), None), {}),
        (Place(), {"a": 1}),
        (UserDict({"type": "Feature", "geometry": POINT, "properties": {"a": 1}}), {"a": 1}),
        ({"type": "Feature", "geometry": POINT, "properties": None}, None),
    ],
)
def test_what_can_be_published(given: Any, properties: Any) -> None:
    feature = orjson.loads(encode(make_feature(given)))
    assert feature["type"] == "Feature"
    assert feature["geometry"] == POINT
    assert feature["properties"] == properties
    assert feature["id"]


def test_where_the_id_comes_from() -> None:
    feature: dict[str, Any] = {"type": "Feature", "geometry": POINT, "properties": {"id": "own"}}
    assert make_feature(feature)["id"] == "own"
    assert make_feature({**feature, "id": 0})["id"] == 0
    assert make_feature({**feature, "id": 0}, identifier="asked")["id"] == "asked"
    assert make_feature(POINT)["id"] != make_feature(POINT)["id"]
    assert "id" not in feature


def test_other_members_and_properties_are_kept() -> None:
    feature = {"type": "Feature", "bbox": [0, 0, 1, 1], "geometry": None, "properties": {"a": 1}}
    made = make_feature(feature, {"b": 2})
    assert made["bbox"] == [0, 0, 1, 1]
    assert made["properties"] == {"a": 1, "b": 2}


@pytest.mark.parametrize("given", [None, 7, "POINT (1 2)", [POINT], {"coordinates": [1, 2]}, (1,)])
def test_what_is_no_feature_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        make_feature(given)


def test_values_that_are_nearly_json() -> None:
    values = {
        "when": datetime(2026, 1, 2, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "count": np.int64(3),
        "list": np.array([1.5, 2.0]),
        "inner": UserDict({"a": (1, 2)}),
    }
    assert orjson.loads(encode(values)) == {
        "when": "2026-01-02T00:00:00+00:00",
        "day": "2026-01-02",
        "count": 3,
        "list": [1.5, 2.0],
        "inner": {"a": [1, 2]},
    }
    with pytest.raises(InputError, match="set"):
        encode({"a": {1, 2}})


def test_the_geometry_of_a_subscription() -> None:
    assert geometry_of(POINT) == POINT
    assert geometry_of({"type": "Feature", "geometry": POINT, "properties": {}}) == POINT
    assert orjson.loads(encode(geometry_of(shapely.Point(1, 2)))) == POINT
    with pytest.raises(InputError, match="without a geometry"):
        geometry_of({"type": "Feature", "geometry": None, "properties": {}})


def test_several() -> None:
    collection = {"type": "FeatureCollection", "features": [POINT, POINT]}
    assert list(several(collection)) == [POINT, POINT]
    assert list(several(iter([POINT]))) == [POINT]
    for bad in (POINT, "text", None, {"type": "FeatureCollection"}):
        with pytest.raises(InputError):
            several(bad)


@given(
    st.lists(st.one_of(st.integers(0, 300), st.none()), max_size=40),
    st.integers(1, 7),
    st.integers(1, 1000),
)
def test_chunks_are_bounded_and_hold_everything(
    lengths: list[int | None], most: int, size: int
) -> None:
    """None stands for something that cannot be sent."""
    chunks = Chunks(most, size)
    found: list[Chunk] = []
    for length in lengths:
        feature: Any = 7 if length is None else (POINT, {"text": "x" * length})
        chunk = chunks.add(feature)
        found += [] if chunk is None else [chunk]
    rest = chunks.rest()
    found += [] if rest is None else [rest]
    assert all(len(chunk.texts) <= most for chunk in found)
    assert all(
        len(chunk.texts) == 1 or sum(map(len, chunk.texts)) <= size
        for chunk in found
        if chunk.texts
    )
    sent = [place for chunk in found for place in chunk.places]
    refused = [place for chunk in found for place, _ in chunk.refused]
    assert sent == [place for place, length in enumerate(lengths) if length is not None]
    assert refused == [place for place, length in enumerate(lengths) if length is None]
    for chunk in found:
        assert [orjson.loads(text)["id"] for text in chunk.texts] == chunk.ids


def test_a_chunk_has_at_least_one_feature() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Chunks(0)
