from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import orjson
import pytest

from geocast.model import from_rfc3339, now
from geocast.repository import DeadLetter
from tests.gateway.served import Served, collection, point, refusal

SEQUENCE = {"Content-Type": "application/geo+json-seq"}


def publish(client: httpx.Client, body: Any) -> httpx.Response:
    return client.post("/v1/publications", json=body)


def stored(served: Served, name: str) -> dict[str, Any]:
    record = served.log.find(served.key("paul", name))
    assert record is not None
    value: dict[str, Any] = orjson.loads(record.value)
    return value


def buried(served: Served) -> list[DeadLetter]:
    return served.repository.dead_letters.page(publisher=served.account("paul").name)


def test_a_feature_is_in_the_log_when_it_is_accepted(served: Served, paul: httpx.Client) -> None:
    feature = point(id="a", bbox=[1, 2, 1, 2], properties={"speed": 1.5, "tags": ["x", {"y": 1}]})
    answer = publish(paul, feature)
    assert answer.status_code == 202
    [receipt] = answer.json()["accepted"]
    record = served.log.find(served.key("paul", "a"))
    assert record is not None
    assert orjson.loads(record.value) == feature
    assert (record.partition, record.offset) == (receipt["partition"], receipt["offset"])
    assert record.time == from_rfc3339(receipt["time"])
    assert receipt["duplicate"] is False
    assert answer.json()["rejected"] == []


def test_the_same_id_again_is_a_duplicate(paul: httpx.Client) -> None:
    first = publish(paul, point(id="a")).json()["accepted"][0]
    again = publish(paul, point(3, 4, id="a")).json()["accepted"][0]
    assert again == {**first, "duplicate": True}


def test_the_same_id_twice_in_one_request(paul: httpx.Client) -> None:
    answer = publish(paul, collection(point(id="a"), point(id="a"))).json()
    assert [receipt["duplicate"] for receipt in answer["accepted"]] == [False, True]


def test_two_publishers_may_use_one_id(paul: httpx.Client, alice: httpx.Client) -> None:
    for client in (paul, alice):
        assert publish(client, point(id="a")).json()["accepted"][0]["duplicate"] is False


def test_a_feature_without_an_id_gets_one(served: Served, paul: httpx.Client) -> None:
    name = publish(paul, point()).json()["accepted"][0]["id"]
    assert stored(served, name) == point(id=name)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (b"7", "7"),
        (b"-7", "-7"),
        (b"1.50", "1.50"),
        (b"123456789012345678901234567890", "123456789012345678901234567890"),
        (b'"7"', "7"),
        ('"é/?#% .."'.encode(), "é/?#% .."),
    ],
)
def test_ids_are_kept_as_they_are_written(
    served: Served, paul: httpx.Client, written: bytes, name: str
) -> None:
    text = orjson.dumps(point()).replace(b'"type":"Feature"', b'"type":"Feature","id":' + written)
    for body in (text, b'{"type":"FeatureCollection","features":[%s]}' % text):
        answer = paul.post("/v1/publications", content=body)
        assert answer.json()["accepted"][0]["id"] == name
    assert stored(served, name)["id"] == name


def test_the_property_id_serves_as_id_and_stays(served: Served, paul: httpx.Client) -> None:
    assert publish(paul, point(properties={"id": 5})).json()["accepted"][0]["id"] == "5"
    assert stored(served, "5")["properties"] == {"id": 5}


def test_a_collection_is_accepted_in_order(paul: httpx.Client) -> None:
    features = [point(k / 10, 0, id=f"p{k}") for k in range(500)]
    answer = publish(paul, collection(*features))
    assert answer.status_code == 202
    assert [r["id"] for r in answer.json()["accepted"]] == [f["id"] for f in features]


def test_an_empty_collection_is_fine(paul: httpx.Client) -> None:
    answer = publish(paul, collection())
    assert (answer.status_code, answer.json()) == (202, {"accepted": [], "rejected": []})


@pytest.mark.parametrize("separator", [b"\x1e", b""])
def test_a_sequence(paul: httpx.Client, separator: bytes) -> None:
    texts = [separator + orjson.dumps(point(id=str(k))) + b"\n" for k in range(3)]
    answer = paul.post("/v1/publications", content=b"".join(texts), headers=SEQUENCE)
    assert [receipt["id"] for receipt in answer.json()["accepted"]] == ["0", "1", "2"]


def test_a_sequence_that_breaks_off_is_accepted_up_to_there(paul: httpx.Client) -> None:
    body = b"\x1e" + orjson.dumps(point(id="a")) + b"\n\x1e" + orjson.dumps(point(id="b"))[:-9]
    answer = paul.post("/v1/publications", content=body, headers=SEQUENCE).json()
    assert [receipt["id"] for receipt in answer["accepted"]] == ["a"]
    [rejected] = answer["rejected"]
    assert (rejected["index"], rejected["id"]) == (1, None)
    assert "not JSON" in rejected["reason"]


@pytest.mark.parametrize(
    "geometry",
    [
        {"type": "Point", "coordinates": [180, -90, 12.5]},
        {"type": "MultiPoint", "coordinates": [[0, 0], [1, 1]]},
        {"type": "LineString", "coordinates": [[0, 0], [1, 1]]},
        {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]},
        {"type": "MultiPolygon", "coordinates": [[[[0, 0], [1, 0], [1, 1], [0, 0]]]]},
    ],
    ids=lambda geometry: str(geometry["type"]),
)
def test_six_types_of_geometry(served: Served, paul: httpx.Client, geometry: Any) -> None:
    feature = {**point(id="g"), "geometry": geometry}
    assert publish(paul, feature).status_code == 202
    assert stored(served, "g") == feature


def test_good_and_bad_together(served: Served, paul: httpx.Client) -> None:
    answer = publish(paul, collection(point(id="a"), point(200, 0, id="b"), 7, point(id="c")))
    assert answer.status_code == 202
    assert [receipt["id"] for receipt in answer.json()["accepted"]] == ["a", "c"]
    assert answer.json()["rejected"] == [
        {"index": 1, "id": "b", "reason": "longitude 200.0 of vertex 0 is outside [-180, 180]"},
        {"index": 2, "id": None, "reason": "not a GeoJSON Feature but the number 7"},
    ]
    letters = buried(served)
    assert [(letter.where, letter.id) for letter in letters] == [
        ("gateway", "b"),
        ("gateway", None),
    ]
    assert orjson.loads(letters[0].value) == point(200, 0, id="b")


def test_all_bad_is_refused_with_all_reasons(served: Served, paul: httpx.Client) -> None:
    problem = refusal(publish(paul, collection(point(200, 0, id="b"), 7)), 422)
    assert [(e["index"], e["id"]) for e in problem["errors"]] == [(0, "b"), (1, None)]
    assert len(buried(served)) == 2
    assert served.log.find(served.key("paul", "b")) is None


def test_a_single_bad_feature_is_refused(served: Served, paul: httpx.Client) -> None:
    problem = refusal(publish(paul, point(0, 91, id="b")), 422)
    assert problem["detail"] == "latitude 91.0 of vertex 0 is outside [-90, 90]"
    assert problem["instance"] == "/v1/publications"
    assert len(buried(served)) == 1


def test_withdraw(served: Served, paul: httpx.Client) -> None:
    publish(paul, point(id="a/b c"))
    for _ in range(2):
        answer = paul.delete("/v1/publications/a%2Fb%20c")
        assert answer.status_code == 200
        assert set(answer.json()) == {"known", "removed", "notices"}
    assert served.repository.mailbox.withdrawn([f"{served.account('paul').name}/a/b c"])


def test_withdraw_what_was_delivered(served: Served, alice: httpx.Client) -> None:
    alice.post("/v1/subscriptions", json={**point(), "id": "s"})
    served.deliver([("a", ["s"]), ("b", ["s"])])
    assert len(alice.get("/v1/notifications", params={"limit": 1}).json()["notifications"]) == 1
    seen = alice.delete("/v1/publications/a").json()
    unseen = alice.delete("/v1/publications/b").json()
    assert (seen["removed"], seen["notices"]) == (0, 1)
    assert (unseen["removed"], unseen["notices"]) == (1, 0)
    types = [n["type"] for n in alice.get("/v1/notifications").json()["notifications"]]
    assert types == ["geocast.withdrawal.v1"]


def test_withdraw_what_only_mailboxes_have(served: Served, alice: httpx.Client) -> None:
    alice.post("/v1/subscriptions", json={**point(), "id": "s"})
    served.deliver([("a", ["s"])])
    served.log.expire(before=now() + 1)
    assert served.log.find(served.key("alice", "a")) is None
    answer = alice.delete("/v1/publications/a")
    assert (answer.status_code, answer.json()["removed"]) == (200, 1)
    assert alice.get("/v1/notifications").json()["notifications"] == []


def test_what_was_never_published_cannot_be_withdrawn(
    paul: httpx.Client, alice: httpx.Client
) -> None:
    publish(alice, point(id="alices"))
    problem = refusal(paul.delete("/v1/publications/alices"), 404)
    assert "'alices'" in problem["detail"]


def test_many_publishers_at_once(served: Served, paul: httpx.Client) -> None:
    def send(k: int) -> str:
        return str(publish(paul, point(id=str(k))).json()["accepted"][0]["id"])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(send, range(200))) == [str(k) for k in range(200)]
    assert all(served.log.find(served.key("paul", str(k))) for k in range(200))
