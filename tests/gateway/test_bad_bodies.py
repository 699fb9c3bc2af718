from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import orjson
import pytest

from geocast.gateway.bodies import MAX_RECORDS
from geocast.gateway.checks import MAX_FEATURE, MAX_VERTICES
from tests.gateway.served import Served, collection, point, refusal, square

GOOD = orjson.dumps(point(id="a"))


@pytest.fixture(params=["/v1/publications", "/v1/subscriptions"])
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "empty"),
        (b"{", 400, "not JSON"),
        (GOOD[:-1], 400, "not JSON"),
        (GOOD[: len(GOOD) // 2], 400, "not JSON"),
        (GOOD + b"x", 400, "not JSON"),
        (b"\xff\xfe{}", 400, "not UTF-8: byte 0"),
        (GOOD.replace(b'"a"', b'"\xc3\x28"'), 400, "not UTF-8"),
        (GOOD.replace(b'"a"', b'"\\ud800"'), 400, "not JSON"),
        (GOOD.replace(b"1.0", b"NaN"), 400, "not JSON"),
        (GOOD.replace(b"1.0", b"-Infinity"), 400, "not JSON"),
        (GOOD.replace(b"1.0", b"1e999"), 400, "not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, 400, "nested too deeply"),
        (b"null", 422, "the body is null"),
        (b"[]", 422, "the body is an array"),
        (b'"Feature"', 422, "the text 'Feature'"),
        (b"{}", 422, "it has no `type`"),
        (b'{"type":"Point","coordinates":[0,0]}', 422, "'Point'"),
        (b'{"type":"FeatureCollection"}', 422, "no array `features`"),
        (b'{"type":"FeatureCollection","features":{}}', 422, "no array `features`"),
        (GOOD.replace(b'{"type":"Point"', b'{"type":"Circle"'), 422, "unknown geometry type"),
        (GOOD.replace(b"[1.0,2.0]", b"[1.0]"), 422, "two numbers"),
        (GOOD.replace(b"[1.0,2.0]", b'["1",2]'), 422, "two numbers"),
        (GOOD.replace(b"[1.0,2.0]", b"[true,2]"), 422, "two numbers"),
        (GOOD.replace(b"[1.0,2.0]", b"[]"), 422, "empty Point"),
        (GOOD.replace(b'"a"', b"true"), 422, "the id is true"),
        (GOOD.replace(b'"a"', b'""'), 422, "the id has 0 characters"),
        (GOOD.replace(b'"a"', b'"%s"' % (b"x" * 257)), 422, "the id has 257 characters"),
        (GOOD.replace(b'"a"', b'"a\\u0000"'), 422, "control character"),
        (GOOD.replace(b'"properties":{}', b'"properties":[]'), 422, "`properties` is an array"),
        (GOOD.replace(b"{}", b'{"geometry":1}'), 422, "may not be named `geometry`"),
    ],
)
def test_what_cannot_be_used(
    alice: httpx.Client, path: str, body: bytes, status: int, words: str
) -> None:
    problem = refusal(alice.post(path, content=body), status)
    assert words in problem["detail"]


def test_a_body_of_another_media_type(alice: httpx.Client, path: str) -> None:
    headers = {"Content-Type": "text/csv"}
    problem = refusal(alice.post(path, content=b"1,2", headers=headers), 415)
    assert "application/geo+json" in problem["detail"]


def test_a_collection_in_another_reference_system(alice: httpx.Client, path: str) -> None:
    crs = {"type": "name", "properties": {"name": "EPSG:25832"}}
    problem = refusal(alice.post(path, json={**collection(point()), "crs": crs}), 422)
    assert "EPSG:25832" in problem["detail"]


@pytest.mark.parametrize(
    ("rings", "words"),
    [
        ([[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]], "Self-intersection"),
        ([[[0, 0], [1, 0], [1, 1], [0, 1]]], "is not closed"),
        ([[[0, 0], [1, 0], [0, 0]]], "needs at least 4"),
        ([[[0, 0], [0, 0], [0, 0], [0, 0]]], "not valid"),
        ([], "empty Polygon"),
    ],
)
def test_bad_rings(alice: httpx.Client, path: str, rings: Any, words: str) -> None:
    feature = {**square("x"), "geometry": {"type": "Polygon", "coordinates": rings}}
    problem = refusal(alice.post(path, json=feature), 422)
    assert words in problem["detail"]


def test_a_collection_of_geometries_is_not_supported(alice: httpx.Client, path: str) -> None:
    geometry = {"type": "GeometryCollection", "geometries": [point()["geometry"]]}
    problem = refusal(alice.post(path, json={**point(), "geometry": geometry}), 422)
    assert "GeometryCollection is not supported" in problem["detail"]


def ring(positions: bytes) -> bytes:
    text = b'{"type":"Feature","id":"r","geometry":{"type":"Polygon","coordinates":[[%s]]}}'
    return text % positions


def test_a_polygon_of_a_million_vertices(served: Served, alice: httpx.Client, path: str) -> None:
    with ThreadPoolExecutor(1) as pool, served.client(None) as other:
        sent = pool.submit(
            alice.post, path, content=ring(b"[0.12,0.3]," * 1_000_000 + b"[0.12,0.3]")
        )
        while not sent.done():
            assert other.get("/healthz", timeout=5).status_code == 200
            time.sleep(0.05)
    problem = refusal(sent.result(), 422)
    assert f"1000001 vertices; it may have {MAX_VERTICES}" in problem["detail"]


def test_a_polygon_with_as_many_vertices_as_may_be(alice: httpx.Client, path: str) -> None:
    angles = np.linspace(0, 2 * np.pi, MAX_VERTICES - 10, endpoint=False)
    positions = [
        b"[%.8f,%.8f]" % (x, y) for x, y in zip(np.cos(angles), np.sin(angles), strict=True)
    ]
    answer = alice.post(path, content=ring(b",".join([*positions, positions[0]])))
    assert answer.status_code in (201, 202), answer.text[:300]


def test_properties_of_many_bytes(alice: httpx.Client, path: str) -> None:
    feature = square("x", note="x" * MAX_FEATURE)
    problem = refusal(alice.post(path, json=feature), 422)
    assert f"it may have {MAX_FEATURE}" in problem["detail"]


@pytest.mark.parametrize("depth", [101, 300, 900])
def test_deep_properties(alice: httpx.Client, path: str, depth: int) -> None:
    deep: Any = 1
    for _ in range(depth):
        deep = [deep]
    text = b'{"type":"Feature","id":"d","geometry":null,"properties":{"deep":%s,"filter":"a=1"}}'
    body = text % (b"[" * depth + b"]" * depth)
    if path == "/v1/publications":
        body = body.replace(b"null", b'{"type":"Point","coordinates":[0,0]}')
    problem = refusal(alice.post(path, content=body), 422)
    assert "nested" in problem["detail"]


def test_deep_foreign_members(alice: httpx.Client, path: str) -> None:
    body = GOOD[:-1] + b',"other":' + b"[" * 500 + b"]" * 500 + b"}"
    problem = refusal(alice.post(path, content=body), 422)
    assert "nested too deeply" in problem["detail"]


def test_too_many_features(alice: httpx.Client, path: str) -> None:
    body = b'{"type":"FeatureCollection","features":[%s0]}' % (b"0," * MAX_RECORDS)
    problem = refusal(alice.post(path, content=body), 413)
    assert str(MAX_RECORDS) in problem["detail"]
