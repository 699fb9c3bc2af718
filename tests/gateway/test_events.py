"""What was published lately: newest first, in pages, by time and place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from geocast.gateway import recent
from geocast.log import Record
from geocast.model import to_rfc3339
from tests.gateway.served import Served, collection, point, refusal, serving


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Served]:
    """A gateway with a log of its own."""
    with serving(tmp_path) as served:
        yield served


@pytest.fixture
def listed(alone: Served) -> Iterator[httpx.Client]:
    """Alice, after she published e0 to e9, each further east."""
    with alone.client("alice") as client:
        for k in range(10):
            client.post("/v1/publications", json=point(10.0 * k, 1, id=f"e{k}"))
        yield client


def ids(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/geo+json"
    return [feature["id"] for feature in answer.json()["features"]]


def names(*numbers: int) -> list[str]:
    return [f"e{number}" for number in numbers]


def test_newest_first_and_as_published(alone: Served, listed: httpx.Client) -> None:
    answer = listed.get("/v1/events")
    assert ids(answer) == names(*range(9, -1, -1))
    assert answer.json()["next"] is None
    first = answer.json()["features"][0]
    record = alone.log.find(alone.key("alice", "e9"))
    assert record is not None
    told = first.pop("geocast")
    assert first == point(90.0, 1, id="e9")
    assert told == {
        "publisher": alone.account("alice").name,
        "time": to_rfc3339(record.time),
        "partition": record.partition,
        "offset": record.offset,
    }


def test_nothing(alone: Served) -> None:
    with alone.client("sue") as sue:
        empty: dict[str, Any] = {"type": "FeatureCollection", "features": [], "next": None}
        assert sue.get("/v1/events").json() == empty


@pytest.mark.parametrize("limit", [1, 3, 10])
def test_pages_have_everything_once(listed: httpx.Client, limit: int) -> None:
    found: list[str] = []
    params: dict[str, Any] = {"limit": limit}
    while True:
        answer = listed.get("/v1/events", params=params)
        assert len(ids(answer)) <= limit
        found += ids(answer)
        if answer.json()["next"] is None:
            break
        params["cursor"] = answer.json()["next"]
    assert found == names(*range(9, -1, -1))


def test_what_comes_meanwhile_does_not_move_pages(listed: httpx.Client) -> None:
    first = listed.get("/v1/events", params={"limit": 4})
    listed.post("/v1/publications", json=point(id="late"))
    rest = listed.get("/v1/events", params={"cursor": first.json()["next"]})
    assert ids(first) + ids(rest) == names(*range(9, -1, -1))


def test_by_time(listed: httpx.Client) -> None:
    features = listed.get("/v1/events").json()["features"]
    times = {feature["id"]: feature["geocast"]["time"] for feature in features}
    since = listed.get("/v1/events", params={"after": times["e7"]})
    assert ids(since) == names(9, 8, 7)
    assert since.json()["next"] is None
    assert ids(listed.get("/v1/events", params={"before": times["e2"]})) == names(1, 0)
    span = {"after": times["e3"], "before": times["e5"]}
    assert ids(listed.get("/v1/events", params=span)) == names(4, 3)
    assert ids(listed.get("/v1/events", params={"after": "2999-01-01T00:00:00+01:00"})) == []


def test_by_place(listed: httpx.Client) -> None:
    assert ids(listed.get("/v1/events", params={"bbox": "15,0,45,2"})) == names(4, 3, 2)
    assert ids(listed.get("/v1/events", params={"bbox": "75,0,5,2"})) == names(9, 8, 0)
    assert ids(listed.get("/v1/events", params={"bbox": "15,2,45,3"})) == []


def test_bounds_of_other_geometries_count(alone: Served) -> None:
    line = {"type": "LineString", "coordinates": [[0, 0], [10, 10]]}
    ring = [[20, 20], [30, 20], [30, 30], [20, 20]]
    areas = {"type": "MultiPolygon", "coordinates": [[ring]]}
    with alone.client("alice") as client:
        for name, geometry in (("line", line), ("areas", areas)):
            client.post("/v1/publications", json={**point(id=name), "geometry": geometry})
        assert ids(client.get("/v1/events", params={"bbox": "8,1,9,2"})) == ["line"]
        assert ids(client.get("/v1/events", params={"bbox": "29,29,60,60"})) == ["areas"]


def test_a_page_looks_at_a_bounded_number(
    listed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "_MOST_LOOKED_AT", 4)
    first = listed.get("/v1/events", params={"bbox": "-1,0,1,2"})
    assert ids(first) == []
    second = {"bbox": "-1,0,1,2", "cursor": first.json()["next"]}
    third = {**second, "cursor": listed.get("/v1/events", params=second).json()["next"]}
    answer = listed.get("/v1/events", params=third)
    assert (ids(answer), answer.json()["next"]) == (["e0"], None)


def test_a_page_has_bounded_bytes(listed: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_MOST_BYTES", 150)
    answer = listed.get("/v1/events")
    assert ids(answer) == names(9, 8)
    assert answer.json()["next"] is not None


def test_withdrawn_events_are_left_out(listed: httpx.Client) -> None:
    listed.delete("/v1/publications/e8")
    assert ids(listed.get("/v1/events", params={"limit": 3})) == names(9, 7)


def test_a_member_geocast_of_the_publisher_is_replaced(alone: Served) -> None:
    with alone.client("alice") as client:
        client.post("/v1/publications", json=point(id="a", geocast="mine", other=1))
        [feature] = client.get("/v1/events").json()["features"]
    assert feature["other"] == 1
    assert set(feature["geocast"]) == {"publisher", "time", "partition", "offset"}


def test_everybody_sees_everybodys(alone: Served) -> None:
    with alone.client("paul") as paul, alone.client("sue") as sue:
        paul.post("/v1/publications", json=point(id="a"))
        [feature] = sue.get("/v1/events").json()["features"]
    assert feature["geocast"]["publisher"] == alone.account("paul").name


def test_the_whole_log_is_not_read(alone: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    tail = alone.log.tail

    def counted(*args: Any, **kwargs: Any) -> Any:
        found = tail(*args, **kwargs)
        read.append(found.num_rows)
        return found

    monkeypatch.setattr(alone.log, "tail", counted)
    monkeypatch.setattr(recent, "_CHUNK", 50)
    features = [point(id=str(k)) for k in range(2_000)]
    with alone.client("alice") as client:
        client.post("/v1/publications", json=collection(*features))
        times = [f["geocast"]["time"] for f in client.get("/v1/events?limit=20").json()["features"]]
        assert sum(read) <= 100
        read.clear()
        found = client.get("/v1/events", params={"after": times[-1], "limit": 20_000})
        assert len(ids(found)) == 20
    assert sum(read) <= 20


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("cursor=1", "query.cursor: that is not the `next` of a page"),
        ("cursor=1-2-3", "query.cursor: that is not the `next` of a page"),
        ("cursor=a-b", "query.cursor: that is not the `next` of a page"),
        ("after=yesterday", "query.after: a time with its zone is expected"),
        ("after=2026-11-16T05:23:11", "query.after: a time with its zone is expected"),
        ("before=2026-13-16T05:23:11Z", "query.before: a time with its zone is expected"),
        ("bbox=0,0,181,1", "query.bbox: '0,0,181,1' is not west,south,east,north"),
        ("limit=20001", "query.limit: "),
    ],
)
def test_bad_questions(alice: httpx.Client, query: str, words: str) -> None:
    assert refusal(alice.get(f"/v1/events?{query}"), 422)["detail"].startswith(words)


def test_a_document_is_json() -> None:
    value = orjson.dumps(point(id="a", properties={"text": '"geocast"'}))
    found = orjson.loads(recent.document(Record(1, 7, 1_000_000, "ann/a", value)))
    assert found["properties"] == {"text": '"geocast"'}
    assert found["geocast"]["time"] == "1970-01-01T00:00:01.000000Z"
