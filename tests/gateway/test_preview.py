"""Before subscribing: which attributes there are, and what would have matched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from geocast.gateway.attributes import summary
from tests.gateway.served import collection, point, refusal, serving, square


@pytest.fixture(scope="module")
def alice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Alice, after she published e0 to e9, each further east, e4 withdrawn."""
    place: Path = tmp_path_factory.mktemp("preview")
    with serving(place) as served, served.client("alice") as client:
        for k in range(10):
            properties = {"speed": k, "kind": "bus" if k % 2 else "tram"}
            client.post("/v1/publications", json=point(k, 1, id=f"e{k}", properties=properties))
        client.delete("/v1/publications/e4")
        yield client


def preview(client: httpx.Client, feature: Any, **params: Any) -> dict[str, Any]:
    answer = client.post("/v1/subscriptions/preview", json=feature, params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_area_and_filter(alice: httpx.Client) -> None:
    found = preview(alice, square(predicate="within", filter="speed > 1"))
    oldest = alice.get("/v1/events").json()["features"][-1]["geocast"]["time"]
    assert found == {
        "considered": 9,
        "matched": 2,
        "ids": ["e3", "e2"],
        "publishers": [alice.get("/v1/me").json()["name"]] * 2,
        "since": oldest,
    }


@pytest.mark.parametrize(
    ("predicate", "ids"),
    [
        ("touches", ["e5"]),
        ("disjoint", ["e9", "e8", "e7", "e6"]),
        ("intersects", ["e5", "e3", "e2", "e1", "e0"]),
    ],
)
def test_relations(alice: httpx.Client, predicate: str, ids: list[str]) -> None:
    assert preview(alice, square(predicate=predicate))["ids"] == ids


def test_a_filter_alone(alice: httpx.Client) -> None:
    asked: dict[str, Any] = {"type": "Feature", "geometry": None}
    asked["properties"] = {"filter": "kind = 'tram'"}
    assert preview(alice, asked)["ids"] == ["e8", "e6", "e2", "e0"]
    asked["properties"] = {"filter": {"op": "=", "args": [{"property": "kind"}, "bus"]}}
    assert preview(alice, asked)["matched"] == 5


def test_only_the_last(alice: httpx.Client) -> None:
    found = preview(alice, square(predicate="disjoint"), limit=2)
    assert (found["considered"], found["ids"]) == (2, ["e9", "e8"])


def test_nothing_is_stored(alice: httpx.Client) -> None:
    preview(alice, square("mine", webhook={"url": "https://example.com"}))
    assert alice.get("/v1/subscriptions").json()["features"] == []
    assert alice.get("/v1/webhooks").json() == {"webhooks": []}


def test_what_was_published_just_now_counts(alice: httpx.Client) -> None:
    asked = {"type": "Feature", "geometry": None, "properties": {"filter": "late = TRUE"}}
    assert preview(alice, asked)["matched"] == 0
    alice.post("/v1/publications", json=point(id="late", properties={"late": True}))
    assert preview(alice, asked)["ids"] == ["late"]
    alice.delete("/v1/publications/late")


def test_without_events(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client("sue") as sue:
        found = preview(sue, square())
        nothing = {"considered": 0, "matched": 0, "ids": [], "publishers": [], "since": None}
        assert found == nothing
        assert sue.get("/v1/attributes").json() == []


@pytest.mark.parametrize(
    ("text", "position"),
    [("speed > ", 8), ("speed >> 3", 7), ("speed > 3 AND", 13), ("NOPE(a) = 3", 0)],
)
@pytest.mark.parametrize("path", ["/v1/subscriptions/preview", "/v1/subscriptions"])
def test_where_a_filter_is_wrong(alice: httpx.Client, path: str, text: str, position: int) -> None:
    problem = refusal(alice.post(path, json=square("bad", filter=text)), 422)
    assert problem["position"] == position
    assert problem["errors"][0]["position"] == position
    assert f"at position {position}" in problem["detail"]


def test_no_position_where_there_is_none(alice: httpx.Client) -> None:
    bad = [
        square(predicate="near"),
        square(filter={"op": "nope", "args": []}),
        {**square(filter="speed >"), "geometry": {"type": "Point", "coordinates": [500, 0]}},
    ]
    for feature in bad:
        problem = refusal(alice.post("/v1/subscriptions/preview", json=feature), 422)
        assert "position" not in problem
        assert "position" not in problem["errors"][0]


def test_positions_of_several(alice: httpx.Client) -> None:
    several = collection(square("a", filter="a >"), square("b"), square("c", filter="abc >"))
    problem = refusal(alice.post("/v1/subscriptions", json=several), 422)
    assert "position" not in problem
    assert [(each["index"], each["position"]) for each in problem["errors"]] == [(0, 3), (2, 5)]


def test_only_one_feature_can_be_tried(alice: httpx.Client) -> None:
    path = "/v1/subscriptions/preview"
    assert "one Feature" in refusal(alice.post(path, json=collection(square())), 422)["detail"]
    refusal(alice.post(path, content=b"{"), 400)
    refusal(alice.post(path, content=b"x", headers={"Content-Type": "text/plain"}), 415)
    refusal(alice.post(path, json=square(), params={"limit": 0}), 422)


def test_attributes(alice: httpx.Client) -> None:
    found = {each["name"]: each for each in alice.get("/v1/attributes").json()}
    assert found["speed"]["types"] == ["number"]
    assert (found["speed"]["min"], found["speed"]["max"], found["speed"]["values"]) == (0, 9, [])
    assert found["kind"] == {
        "name": "kind",
        "types": ["text"],
        "values": ["bus", "tram"],
        "min": None,
        "max": None,
        "share": 1.0,
    }


def test_a_summary_of_attributes() -> None:
    properties: list[Any] = [
        {"a": 1, "b": "x", "c": None, "d": {"e": True, "f": {"g": [1]}}},
        {"a": "1", "b": "y"},
        {"a": -2.5, "b": "y", "long": "z" * 101},
        None,
    ]
    found = summary({"properties": each} for each in properties)
    assert [(each["name"], each["types"], each["share"]) for each in found] == [
        ("a", ["number", "text"], 0.75),
        ("b", ["text"], 0.75),
        ("d.e", ["boolean"], 0.25),
        ("d.f.g", ["array"], 0.25),
        ("long", ["text"], 0.25),
    ]
    assert (found[0]["min"], found[0]["max"], found[0]["values"]) == (-2.5, 1, ["1"])
    assert found[1]["values"] == ["y", "x"]
    assert found[4]["values"] == []


def test_a_summary_is_bounded() -> None:
    many = [{"properties": {"t": str(k), f"name{k}": k}} for k in range(500)]
    found = summary(many)
    assert len(found) == 200
    assert len(found[0]["values"]) == 20
    deep: dict[str, Any] = {"a": 1}
    for _ in range(10):
        deep = {"d": deep}
    assert [(each["name"], each["types"]) for each in summary([{"properties": deep}])] == [
        ("d.d.d", ["object"])
    ]
