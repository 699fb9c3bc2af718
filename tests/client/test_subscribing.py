"""Subscribing with both clients, against a service made of one function."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from geocast.client import core as cores
from geocast.errors import ConflictError, InputError, ServiceError
from tests.client.both import mock_client
from tests.client.fakes import POINT, TIME, FakeLog, problem


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "backoff", lambda attempt: 0.0)


def subscription(identifier: str, status: str = "pending", **properties: Any) -> dict[str, Any]:
    state = {"status": status, "version": 1, "created": TIME, "activated": None}
    return {
        "type": "Feature",
        "id": identifier,
        "geometry": POINT,
        "properties": {"predicate": "within", "colour": "red", "geocast": state, **properties},
    }


class Repository:
    """Keeps subscriptions; the answers to the first `lost` requests get lost."""

    def __init__(self, lost: int = 0) -> None:
        self.kept: dict[str, Any] = {}
        self.lost = lost
        self.looks = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        answer = self.answer(request)
        if self.lost:
            self.lost -= 1
            raise httpx.RemoteProtocolError("server disconnected")
        return answer

    def answer(self, request: httpx.Request) -> httpx.Response:
        identifier = request.url.path.removeprefix("/v1/subscriptions").removeprefix("/")
        if request.method == "POST":
            body = orjson.loads(request.content)
            if body["id"] in self.kept:
                return problem(409, f"there is a subscription {body['id']!r} already")
            self.kept[body["id"]] = body
            return httpx.Response(201, json=subscription(body["id"]))
        if identifier not in self.kept:
            return problem(404, f"no subscription {identifier!r}")
        if request.method == "DELETE":
            del self.kept[identifier]
            return httpx.Response(204)
        self.looks += 1
        status = "active" if self.looks > 2 else "pending"
        return httpx.Response(200, json=subscription(identifier, status))


def test_subscribe(kind: str) -> None:
    repository = Repository()
    with mock_client(kind, repository) as client:
        made = client.subscribe(POINT, "within", "a = 1", id="x", properties={"colour": "red"})
        assert (made.id, made.status) == ("x", "pending")
        assert made.facts.properties == {"colour": "red"}
        assert made.facts.predicate == "within"
        assert made.wait_active(5).status == "active"
        made.unsubscribe()
        with pytest.raises(ServiceError, match="no subscription 'x'"):
            made.unsubscribe()
        assert client.subscribe(filter={"op": "=", "args": [1, 1]}).id in repository.kept


def test_what_is_sent_to_subscribe(kind: str) -> None:
    repository = Repository()
    with mock_client(kind, repository) as client:
        client.subscribe(POINT, id="a", webhook="https://x.org", properties={"colour": "red"})
        client.subscribe(None, None, "a = 1", id="b")
    assert repository.kept["a"]["properties"] == {
        "colour": "red",
        "webhook": {"url": "https://x.org"},
    }
    assert repository.kept["b"]["geometry"] is None
    assert repository.kept["b"]["properties"] == {"filter": "a = 1"}


def test_an_answer_that_got_lost_does_not_subscribe_twice(kind: str) -> None:
    repository = Repository(lost=2)
    with mock_client(kind, repository) as client:
        made = client.subscribe(POINT)
    assert list(repository.kept) == [made.id]


def test_with_an_id_of_the_users_doubt_is_an_error(kind: str) -> None:
    repository = Repository(lost=1)
    with mock_client(kind, repository) as client:
        with pytest.raises(ServiceError, match="cannot be reached"):
            client.subscribe(POINT, id="x")
        with pytest.raises(ConflictError, match="'x' already") as caught:
            client.subscribe(POINT, id="x")
    assert isinstance(caught.value, ServiceError)
    assert caught.value.status == 409


@pytest.mark.parametrize("secret", [None, "mine"])
def test_a_secret_that_the_service_makes_is_never_lost_unnoticed(
    kind: str, secret: str | None
) -> None:
    repository = Repository(lost=1)
    webhook = {"url": "https://x.org", **({} if secret is None else {"secret": secret})}
    with mock_client(kind, repository) as client:
        if secret is None:
            with pytest.raises(ServiceError, match="cannot be reached"):
                client.subscribe(POINT, webhook=webhook)
        else:
            assert client.subscribe(POINT, webhook=webhook).id in repository.kept


def test_an_answer_that_got_lost_does_not_make_unsubscribing_fail(kind: str) -> None:
    repository = Repository()
    with mock_client(kind, repository) as client:
        made = client.subscribe(POINT)
        repository.lost = 1
        made.unsubscribe()
    assert repository.kept == {}


def test_waiting_for_activation_ends(kind: str) -> None:
    repository = Repository()
    with mock_client(kind, repository) as client:
        made = client.subscribe(POINT)
        repository.looks = -100
        with pytest.raises(ServiceError, match="is pending, not active"):
            made.wait_active(0.1)


@pytest.mark.parametrize(
    "wish", [{}, {"predicate": "within"}, {"geometry": POINT, "properties": {"filter": "x"}}]
)
def test_what_is_no_subscription_is_refused_before_it_is_sent(
    kind: str, wish: dict[str, Any]
) -> None:
    with mock_client(kind, FakeLog()) as client, pytest.raises(InputError):
        client.subscribe(**wish)


def test_pages_of_subscriptions(kind: str) -> None:
    queries: list[dict[str, str]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        queries.append(dict(request.url.params))
        page = int(request.url.params.get("cursor", 0))
        following = str(page + 1) if page < 2 else None
        return httpx.Response(200, json={"features": [subscription(f"s{page}")], "next": following})

    with mock_client(kind, handler) as client:
        found = [each.id for each in client.subscriptions((-1, 0, 1, 2.5), page=1)]
    assert found == ["s0", "s1", "s2"]
    assert queries[0] == {"limit": "1", "bbox": "-1.0,0.0,1.0,2.5"}
    assert queries[2]["cursor"] == "2"
