"""Geometries known by their text: the same as read in the plain way, whatever the text is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocast.files import RecurringGeometries, read_texts
from geocast.files import recurring as module
from geocast.files.geometry import geometry_to_wkb

RING = [[x / 7, y / 7] for x, y in [(i, 0) for i in range(20)] + [(19, 9), (0, 9), (0, 0)]]
POLYGON: dict[str, Any] = {"type": "Polygon", "coordinates": [RING]}


def feature(**more: Any) -> dict[str, Any]:
    return {"type": "Feature", "id": "a", "geometry": POLYGON, "properties": {"n": 1}} | more


def text(**more: Any) -> bytes:
    return json.dumps(feature(**more)).encode()


def swapped(other: str) -> bytes:
    """A Feature with something else in the place of its geometry."""
    return text(geometry="HERE").replace(b'"HERE"', other.encode())


SHAPE = json.dumps(POLYGON)
TEXTS = {
    "plain": text(),
    "compact": json.dumps(feature(), separators=(",", ":")).encode(),
    "spaces": text().replace(b'"geometry": ', b'"geometry" \n:\t '),
    "geometry first": json.dumps({"geometry": POLYGON, "type": "Feature", "id": "a"}).encode(),
    "a box within": swapped(SHAPE[:-1] + ', "bbox": [0, 0, 3, 2]}'),
    "braces in a text within": swapped(SHAPE[:-1] + ', "name": "}{"}'),
    "an object within": swapped(SHAPE[:-1] + ', "crs": {"type": "x"}}'),
    "a collection": text(geometry={"type": "GeometryCollection", "geometries": [POLYGON]}),
    "named in a property": text(properties={"x": {"geometry": POLYGON}}),
    "named in a property, first": json.dumps(
        {"properties": {"x": {"geometry": POLYGON}}, **feature(id="b")}
    ).encode(),
    "named in a text": text(properties={"x": 'he said "geometry": {' + "x" * 300 + "}"}),
    "a key that ends like it": json.dumps(
        {'my"geometry': POLYGON, "type": "Feature", "id": "a", "geometry": None}
    ).encode(),
    "twice, the last counts": text().replace(
        b'"properties"', b'"geometry": {"type":"Point","coordinates":[1,2]}, "properties"'
    ),
    "twice, the last is null": text().replace(b'"properties"', b'"geometry": null, "properties"'),
    "escaped name": text().replace(b'"geometry"', b'"\\u0067eometry"'),
    "escaped name behind": text().replace(b'"properties"', b'"\\u0067eometry": null, "properties"'),
    "a text as geometry": swapped('"' + "x" * 300 + '"'),
    "open ring": swapped(SHAPE.replace("[0.0, 0.0]]]", "[0.5, 0.5]]]")),
    "broken within": swapped(SHAPE.replace("0.0", "0.0.0", 1)),
    "broken before": text().replace(b'"Feature"', b"Feature"),
    "broken behind": text()[:-1],
    "more behind": text() + b"}",
    "a comma too many": text().replace(b"}, ", b"},, "),
    "two values": text().replace(b'"geometry": ', b'"geometry": 1 '),
    "not UTF-8": text().replace(b'"Polygon"', b'"Poly\xffgon"'),
    "no feature": b"[" + text() + b"]",
    "property geometry": text(properties={"geometry": POLYGON}),
    "an id that is a long number": text().replace(b'"a"', b"12345678901234567890.5"),
}


def told(texts: list[bytes], known: RecurringGeometries | None) -> list[Any]:
    chunks = list(read_texts(texts, known=known))
    return [
        (chunk.batch.to_pydict(), chunk.batch.schema, chunk.rows.tolist(), chunk.rejects)
        for chunk in chunks
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_is_read_as_without_memory(name: str) -> None:
    known = RecurringGeometries()
    for texts in ([TEXTS[name]], [text(), TEXTS[name], TEXTS[name], text()]):
        assert told(texts, known) == told(texts, None)


def test_all_together_and_again() -> None:
    known, texts = RecurringGeometries(), list(TEXTS.values())
    first = told(texts, None)
    assert told(texts, known) == first
    assert told(texts, known) == first
    assert sum(len(chunk[3]) for chunk in first) > 8


def test_a_geometry_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def counted(geometry: Any) -> bytes:
        read.append(geometry)
        return geometry_to_wkb(geometry)

    monkeypatch.setattr(module, "geometry_to_wkb", counted)
    known = RecurringGeometries()
    told([text(id=f"n{i}", properties={"n": i}) for i in range(50)], known)
    assert len(read) == 1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    known = RecurringGeometries(max_bytes=20_000)
    shapes = [
        {"type": "LineString", "coordinates": [[i, k / 3] for k in range(40)]} for i in range(200)
    ]
    texts = [text(id=f"n{i}", geometry=shape) for i, shape in enumerate(shapes)]
    assert told(texts, known) == told(texts, None)
    kept = {**known._young, **known._old}
    assert 1 < len(kept) < 40
    assert sum(map(len, (*kept, *kept.values()))) <= 20_000


def test_what_is_used_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    known = RecurringGeometries(max_bytes=20_000)
    told([text()], known)
    for i in range(200):
        line = {"type": "LineString", "coordinates": [[i, k / 3] for k in range(40)]}
        told([text(id=f"n{i}", geometry=line), text()], known)
    monkeypatch.setattr(module, "geometry_to_wkb", None)
    assert told([text()], known) == told([text()], None)


@given(st.data())
def test_broken_anywhere(data: st.DataObject) -> None:
    """Whatever is cut out of a text, or put into it, is judged alike."""
    whole = data.draw(st.sampled_from([TEXTS["plain"], TEXTS["compact"], TEXTS["a box within"]]))
    marks = [m.start() for m in re.finditer(rb'[{}\[\]",:]', whole)]
    at = data.draw(st.sampled_from(marks))
    size = data.draw(st.integers(0, 3))
    put = data.draw(st.sampled_from([b"", b"{", b"}", b'"', b"[", b",", b'"geometry":', b"\\"]))
    changed = whole[:at] + put + whole[at + size :]
    known = RecurringGeometries()
    told([whole], known)
    assert told([changed], known) == told([changed], None)
