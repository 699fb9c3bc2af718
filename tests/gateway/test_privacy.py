"""Two accounts with the same rights do not see each other's things."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from geocast.model import Right
from tests.gateway.served import Served, point, refusal, square


@pytest.fixture
def other(served: Served) -> Iterator[httpx.Client]:
    served.add("other", Right.PUBLISH, Right.SUBSCRIBE)
    with served.client("other") as client:
        yield client


@pytest.fixture
def owner(served: Served, alice: httpx.Client) -> httpx.Client:
    feature = square("mine", webhook={"url": "https://example.com"})
    assert alice.post("/v1/subscriptions", json=feature).status_code == 201
    served.deliver([("a", ["mine"])])
    return alice


def test_subscriptions(owner: httpx.Client, other: httpx.Client) -> None:
    assert other.get("/v1/subscriptions").json()["features"] == []
    refusal(other.get("/v1/subscriptions/mine"), 404)
    refusal(other.put("/v1/subscriptions/mine", json=square()), 404)
    refusal(other.delete("/v1/subscriptions/mine"), 404)
    assert owner.get("/v1/subscriptions/mine").json()["properties"]["geocast"]["version"] == 1


def test_pauses(owner: httpx.Client, other: httpx.Client) -> None:
    refusal(other.post("/v1/subscriptions/mine/pause"), 404)
    refusal(other.post("/v1/subscriptions/mine/resume"), 404)
    state = owner.get("/v1/subscriptions/mine").json()["properties"]["geocast"]
    assert (state["status"], state["version"]) == ("pending", 1)


def test_notifications(owner: httpx.Client, other: httpx.Client) -> None:
    assert other.get("/v1/notifications").json()["notifications"] == []
    assert other.get("/v1/notifications/counts").json() == {"subscriptions": {}}
    refusal(other.get("/v1/notifications?subscription=mine"), 404)
    cursor = owner.get("/v1/notifications").json()["cursor"]
    for body in ({"through": cursor}, {"cursors": [cursor]}):
        assert other.post("/v1/notifications/ack", json=body).json() == {"acknowledged": 0}
    assert len(owner.get("/v1/notifications").json()["notifications"]) == 1


def test_streams(owner: httpx.Client, other: httpx.Client) -> None:
    refusal(other.get("/v1/stream?subscription=mine"), 404)


def test_webhooks(owner: httpx.Client, other: httpx.Client) -> None:
    [webhook] = owner.get("/v1/webhooks").json()["webhooks"]
    assert other.get("/v1/webhooks").json() == {"webhooks": []}
    refusal(other.post(f"/v1/webhooks/{webhook['number']}/resume"), 404)


def test_publications(owner: httpx.Client, other: httpx.Client) -> None:
    refusal(other.delete("/v1/publications/a"), 404)


def test_dead_letters(owner: httpx.Client, other: httpx.Client, paul: httpx.Client) -> None:
    paul.post("/v1/publications", json=point(200, 0, id="x"))
    assert other.get("/v1/dead-letters").json() == {"dead_letters": [], "next": None}
    [letter] = paul.get("/v1/dead-letters").json()["dead_letters"]
    assert (letter["id"], letter["where"]) == ("x", "gateway")
    page, cursor = owner.get("/v1/dead-letters", params={"limit": 1}).json(), None
    seen = page["dead_letters"]
    while cursor := page["next"]:
        page = owner.get("/v1/dead-letters", params={"limit": 1, "cursor": cursor}).json()
        seen += page["dead_letters"]
    assert letter["number"] in [each["number"] for each in seen]


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("POST", "/v1/publications", "publish"),
        ("DELETE", "/v1/publications/a", "publish"),
        ("POST", "/v1/subscriptions", "subscribe"),
        ("GET", "/v1/subscriptions", "subscribe"),
        ("GET", "/v1/subscriptions/a", "subscribe"),
        ("PUT", "/v1/subscriptions/a", "subscribe"),
        ("DELETE", "/v1/subscriptions/a", "subscribe"),
        ("GET", "/v1/notifications", "subscribe"),
        ("POST", "/v1/notifications/ack", "subscribe"),
        ("GET", "/v1/stream", "subscribe"),
        ("GET", "/v1/events", "subscribe"),
        ("GET", "/v1/events/stream", "subscribe"),
        ("GET", "/v1/attributes", "subscribe"),
        ("GET", "/v1/notifications/counts", "subscribe"),
        ("POST", "/v1/subscriptions/preview", "subscribe"),
        ("POST", "/v1/subscriptions/a/pause", "subscribe"),
        ("POST", "/v1/subscriptions/a/resume", "subscribe"),
        ("GET", "/v1/webhooks", "subscribe"),
        ("GET", "/v1/webhooks/parked", "admin"),
        ("POST", "/v1/webhooks/1/resume", "subscribe"),
        ("GET", "/v1/accounts", "admin"),
        ("POST", "/v1/accounts", "admin"),
        ("GET", "/v1/accounts/alice", "admin"),
        ("PUT", "/v1/accounts/alice", "admin"),
        ("DELETE", "/v1/accounts/alice", "admin"),
        ("GET", "/v1/accounts/alice/tokens", "admin"),
        ("POST", "/v1/accounts/alice/tokens", "admin"),
        ("DELETE", "/v1/accounts/alice/tokens/1", "admin"),
        ("GET", "/v1/status", "admin"),
    ],
)
def test_rights(served: Served, nobody: httpx.Client, method: str, path: str, right: str) -> None:
    bodies = {
        "/v1/notifications/ack": {"through": 1},
        "/v1/accounts": {"name": "x", "rights": []},
        "/v1/accounts/alice": {"rights": []},
    }
    sent = bodies.get(path, {}) if method in ("POST", "PUT") else None
    answer = nobody.request(method, path, json=sent)
    refusal(answer, 401)
    assert answer.headers["www-authenticate"].startswith("Bearer")
    served.add("weak", *(set(Right) - {Right(right)}))
    with served.client("weak") as weak:
        problem = refusal(weak.request(method, path, json=sent), 403)
    assert f"does not have the right {right!r}" in problem["detail"]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer gct_é", "gct_"])
def test_bad_tokens(nobody: httpx.Client, header: str) -> None:
    answer = nobody.get("/v1/me", headers={b"Authorization": header.encode("latin-1")})
    refusal(answer, 401)


def test_a_token_in_the_query_counts_only_for_streams(served: Served, nobody: httpx.Client) -> None:
    query = {"access_token": served.token("alice")}
    refusal(nobody.get("/v1/me", params=query), 401)
    for path in ("/v1/stream", "/v1/events/stream"):
        with nobody.stream("GET", path, params=query) as answer:
            assert answer.status_code == 200
