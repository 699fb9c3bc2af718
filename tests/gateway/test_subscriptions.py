from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from geocast.language import MAX_DEPTH
from geocast.model import now
from tests.gateway.served import Served, collection, point, refusal, serving, square

PATH = "/v1/subscriptions"


def subscribe(client: httpx.Client, feature: Any) -> dict[str, Any]:
    answer = client.post(PATH, json=feature)
    assert answer.status_code == 201, answer.text
    assert answer.headers["content-type"] == "application/geo+json"
    made: dict[str, Any] = answer.json()
    return made


def test_subscribe_and_look_up(sue: httpx.Client) -> None:
    asked = square("a/b ü", predicate="within", filter="speed > 3", colour="red", deep={"x": [1]})
    answer = sue.post(PATH, json=asked)
    assert answer.headers["location"] == f"{PATH}/a%2Fb%20%C3%BC"
    made = answer.json()
    state = made["properties"].pop("geocast")
    assert made == orjson.loads(orjson.dumps(asked))
    assert (state["status"], state["version"], state["activated"]) == ("pending", 1, None)
    found = sue.get(answer.headers["location"])
    assert found.status_code == 200
    assert found.json()["properties"]["geocast"] == state


def test_a_subscription_without_an_id_gets_one(sue: httpx.Client) -> None:
    name = subscribe(sue, square())["id"]
    assert sue.get(f"{PATH}/{name}").json()["id"] == name


def test_a_subscription_by_filter_alone(sue: httpx.Client) -> None:
    whole = "S_WITHIN(geometry, POLYGON((0 0, 1 0, 1 1, 0 0))) AND a = 1"
    feature = {"type": "Feature", "geometry": None, "properties": {"filter": whole}}
    assert subscribe(sue, feature)["geometry"] is None


def test_a_filter_as_json_comes_back_as_json(sue: httpx.Client) -> None:
    condition = {"op": ">", "args": [{"property": "speed"}, 3]}
    assert subscribe(sue, square(filter=condition))["properties"]["filter"] == condition


def test_it_becomes_active(served: Served, sue: httpx.Client) -> None:
    name = subscribe(sue, square())["id"]
    changes = served.repository.subscriptions.changes(0, 10_000)
    version, through = served.repository.subscriptions.snapshot_at()
    served.repository.subscriptions.activate(version + 1, through, changes.through, now())
    state = sue.get(f"{PATH}/{name}").json()["properties"]["geocast"]
    assert state["status"] == "active"
    assert state["activated"] is not None


def test_an_id_is_taken(sue: httpx.Client, alice: httpx.Client) -> None:
    subscribe(sue, square("one"))
    problem = refusal(sue.post(PATH, json=square("one")), 409)
    assert "'one'" in problem["detail"]
    subscribe(alice, square("one"))


def test_change(sue: httpx.Client) -> None:
    told = subscribe(sue, square("one", colour="red"))
    told["properties"]["predicate"] = "disjoint"
    answer = sue.put(f"{PATH}/one", json=told)
    assert answer.status_code == 200
    properties = answer.json()["properties"]
    assert (properties["predicate"], properties["colour"]) == ("disjoint", "red")
    assert properties["geocast"]["version"] == 2
    assert sue.get(f"{PATH}/one").json() == answer.json()


def test_change_needs_no_id_but_contradicts_none(sue: httpx.Client) -> None:
    subscribe(sue, square("one"))
    assert sue.put(f"{PATH}/one", json=square()).json()["id"] == "one"
    problem = refusal(sue.put(f"{PATH}/one", json=square("two")), 422)
    assert "'two'" in problem["detail"]


def test_change_what_is_not_there(sue: httpx.Client) -> None:
    refusal(sue.put(f"{PATH}/none", json=square()), 404)


def test_change_to_what_cannot_be_used(sue: httpx.Client) -> None:
    subscribe(sue, square("one"))
    refusal(sue.put(f"{PATH}/one", json=square(predicate="near")), 422)
    assert sue.get(f"{PATH}/one").json()["properties"]["geocast"]["version"] == 1


def test_unsubscribe(sue: httpx.Client) -> None:
    subscribe(sue, square("one"))
    assert sue.delete(f"{PATH}/one").status_code == 204
    for answer in (sue.delete(f"{PATH}/one"), sue.get(f"{PATH}/one")):
        assert "'one'" in refusal(answer, 404)["detail"]
    assert subscribe(sue, square("one"))["properties"]["geocast"]["version"] == 2


def test_many_at_once(sue: httpx.Client) -> None:
    features = [square(f"s{k}", filter=f"n = {k}") for k in range(300)]
    made = subscribe(sue, collection(*features))
    assert made["type"] == "FeatureCollection"
    assert [feature["id"] for feature in made["features"]] == [f["id"] for f in features]


def test_many_at_once_are_made_all_or_none(sue: httpx.Client) -> None:
    features = [square("a"), square("b", filter="speed >"), square("a"), point(200, 0, id="d"), 3]
    problem = refusal(sue.post(PATH, json=collection(*features)), 422)
    assert [(error["index"], error["id"]) for error in problem["errors"]] == [
        (1, "b"),
        (2, "a"),
        (3, "d"),
        (4, None),
    ]
    assert "4 of 5 subscriptions" in problem["detail"]
    assert sue.get(PATH).json()["features"] == []


def test_pages(sue: httpx.Client) -> None:
    subscribe(sue, collection(*(square(f"s{k}") for k in range(5))))
    names: list[str] = []
    cursor: dict[str, str] = {}
    pages = 0
    while True:
        page = sue.get(PATH, params={"limit": 2, **cursor}).json()
        names += [feature["id"] for feature in page["features"]]
        pages += 1
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert (names, pages) == ([f"s{k}" for k in range(5)], 3)


def test_pages_by_box(sue: httpx.Client) -> None:
    subscribe(sue, collection(square("middle"), point(179, 0, id="east"), point(-179, 0, id="w")))

    def names(box: str) -> set[str]:
        return {f["id"] for f in sue.get(PATH, params={"bbox": box}).json()["features"]}

    assert names("4.5,4.5,6,6") == {"middle"}
    assert names("170,-1,-170,1") == {"east", "w"}
    assert names("-180,-90,180,90") == {"middle", "east", "w"}


@pytest.mark.parametrize(
    "query", ["bbox=1,2,3", "bbox=a,b,c,d", "bbox=0,2,0,1", "bbox=0,0,181,0", "limit=0", "cursor=x"]
)
def test_bad_pages(sue: httpx.Client, query: str) -> None:
    name = query.partition("=")[0]
    assert f"query.{name}" in refusal(sue.get(f"{PATH}?{query}"), 422)["detail"]


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"predicate": "near"}, "unknown predicate 'near'"),
        ({"predicate": 3}, "`predicate` is the number 3"),
        ({"filter": "speed >"}, "filter refused at position"),
        ({"filter": "speed > 'a' + 1"}, "filter refused"),
        ({"filter": {"op": "??", "args": []}}, "filter refused at $"),
        ({"filter": 3}, "`filter` is the number 3"),
        ({"filter": "a = 'x\0'"}, "NUL"),
        ({"filter": "(" * 5_000 + "a = 1" + ")" * 5_000}, "filter refused"),
        ({"filter": "NOT " * (MAX_DEPTH + 1) + "a = 1"}, "filter refused"),
        ({"webhook": 3}, "`webhook`"),
        ({"webhook": {}}, "`webhook`"),
        ({"webhook": {"url": "ftp://example.com"}}, "only http and https"),
        ({"webhook": {"url": "http://127.0.0.1/x"}}, "not a public address"),
        ({"webhook": {"url": "http://localhost/x"}}, "not a public address"),
        ({"webhook": {"url": "http://[::1]/x"}}, "not a public address"),
        ({"webhook": {"url": "http://10.0.0.1/x"}}, "not a public address"),
        ({"webhook": {"url": "http://169.254.169.254/"}}, "not a public address"),
        ({"webhook": {"url": "https://example.com", "secret": 3}}, "`secret`"),
        ({"webhook": {"url": "https://example.com", "secret": ""}}, "`secret`"),
        ({"webhook": {"url": "https://example.com", "secret": "whsec_%"}}, "not base64"),
    ],
)
def test_what_cannot_be_asked(sue: httpx.Client, properties: Any, words: str) -> None:
    problem = refusal(sue.post(PATH, json=square("x", **properties)), 422)
    assert words in problem["detail"]
    assert [(error["index"], error["id"]) for error in problem["errors"]] == [(0, "x")]


def test_deep_filters_as_json(sue: httpx.Client) -> None:
    condition: Any = {"op": "=", "args": [{"property": "a"}, 1]}
    for _ in range(90):
        condition = {"op": "not", "args": [condition]}
    problem = refusal(sue.post(PATH, json=square("x", filter=condition)), 422)
    assert "nested" in problem["detail"]


def test_neither_area_nor_filter(sue: httpx.Client) -> None:
    feature: dict[str, Any] = {"type": "Feature", "geometry": None, "properties": {}}
    problem = refusal(sue.post(PATH, json=feature), 422)
    assert "neither a geometry nor a filter" in problem["detail"]


def test_a_secret_is_made_and_told_once(served: Served, sue: httpx.Client) -> None:
    hook = {"url": "https://example.com/hook"}
    told = subscribe(sue, square("one", webhook=hook))["properties"]["webhook"]
    assert told["secret"].startswith("whsec_")
    again = sue.get(f"{PATH}/one").json()["properties"]["webhook"]
    assert again == {key: told[key] for key in ("url", "number", "state")}
    other = subscribe(sue, square("two", webhook=hook))["properties"]["webhook"]
    assert other == again
    assert sue.put(f"{PATH}/two", json=square(webhook=other)).status_code == 200
    [endpoint] = served.repository.endpoints.page(served.account("sue").number)
    assert endpoint.secret == told["secret"]


def test_a_secret_of_ones_own_is_never_told(served: Served, sue: httpx.Client) -> None:
    hook = {"url": "https://example.com/hook", "secret": "correct horse"}
    assert "secret" not in subscribe(sue, square("one", webhook=hook))["properties"]["webhook"]
    refusal(sue.post(PATH, json=square("one", webhook={**hook, "secret": "other"})), 409)
    [endpoint] = served.repository.endpoints.page(served.account("sue").number)
    assert endpoint.secret == "correct horse"


def test_webhooks_are_listed_and_resumed(served: Served, sue: httpx.Client) -> None:
    hook = {"url": "https://example.com/hook"}
    number = subscribe(sue, square(webhook=hook))["properties"]["webhook"]["number"]
    served.repository.endpoints.park(number, "gone", status=410)
    [listed] = sue.get("/v1/webhooks").json()["webhooks"]
    assert (listed["state"], listed["last_error"], listed["last_status"]) == ("parked", "gone", 410)
    assert "secret" not in listed
    resumed = sue.post(f"/v1/webhooks/{number}/resume")
    assert (resumed.status_code, resumed.json()["state"]) == (200, "active")
    refusal(sue.post("/v1/webhooks/99999/resume"), 404)


def test_administrators_see_what_is_parked(tmp_path: Any) -> None:
    with serving(tmp_path) as served, served.client("sue") as sue, served.client("alice") as alice:
        hook = {"url": "https://hooks.example.com:8443/secret?of=sue"}
        number = subscribe(sue, square(webhook=hook))["properties"]["webhook"]["number"]
        assert alice.get("/v1/webhooks/parked").json() == {"webhooks": []}
        served.repository.endpoints.park(number, "gone", status=410)
        [seen] = alice.get("/v1/webhooks/parked").json()["webhooks"]
        owner = sue.get("/v1/me").json()["name"]
        assert (seen["account"], seen["host"]) == (owner, "hooks.example.com:8443")
        assert (seen["number"], seen["last_error"], seen["last_status"]) == (number, "gone", 410)
        refusal(sue.get("/v1/webhooks/parked"), 403)


def test_no_room(tmp_path: Any) -> None:
    with serving(tmp_path, max_subscriptions=2) as served, served.client("sue") as sue:
        subscribe(sue, square("one"))
        problem = refusal(sue.post(PATH, json=collection(square(), square())), 403)
        assert "1 of 2" in problem["detail"]
        subscribe(sue, square("two"))


def test_private_webhooks_where_they_are_allowed(tmp_path: Any) -> None:
    with serving(tmp_path, allow_private_webhooks=True) as served, served.client("sue") as sue:
        subscribe(sue, square(webhook={"url": "http://127.0.0.1:9999/x"}))
