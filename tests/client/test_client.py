"""What both clients do beside publishing and subscribing; addresses, tokens and ids."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

import geocast
from geocast.errors import InputError, ServiceError
from tests.client.both import mock_client
from tests.client.events import cloud_event
from tests.client.fakes import POINT, FakeLog


def test_what_was_missed(kind: str) -> None:
    bodies: list[Any] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            bodies.append(orjson.loads(request.content))
            return httpx.Response(200, json={"acknowledged": 2})
        assert dict(request.url.params) == {"after": "4", "limit": "2", "subscription": "s"}
        events = [cloud_event(5), cloud_event(6)]
        return httpx.Response(200, json={"notifications": events, "cursor": 6})

    with mock_client(kind, handler) as client:
        found = client.notifications(4, 2, "s")
        assert [each.cursor for each in found] == [5, 6]
        assert client.acknowledge(*found) == 2
        assert client.acknowledge(9) == 2
        assert client.acknowledge(through=6, subscription="s") == 2
        for wrong in ((), (9,)):
            with pytest.raises(InputError, match="one of the two"):
                client.acknowledge(*wrong, through=6 if wrong else None)
    assert bodies == [{"cursors": [5, 6]}, {"cursors": [9]}, {"through": 6, "subscription": "s"}]


@pytest.mark.parametrize("identifier", ["a/b", "..", ".", "ü ?#%", "a%2Fb", "-"])
def test_any_id_is_one_segment_of_a_path(kind: str, identifier: str) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"known": True, "removed": 1, "notices": 0})

    paths: list[str] = []
    with mock_client(kind, handler) as client:
        assert client.unpublish(identifier)["removed"] == 1
    [path] = paths
    assert path.startswith("/v1/publications/")
    assert path.count("/") == 3
    assert httpx.URL("http://x" + path).path == "/v1/publications/" + identifier


def test_an_empty_id_is_refused(kind: str) -> None:
    with mock_client(kind, FakeLog()) as client, pytest.raises(InputError, match="empty id"):
        client.unpublish("")


@pytest.mark.parametrize("url", ["", "service", "ftp://x", "http://", "http://x:y", "http://x?a=1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="is not the address of a service"):
        geocast.Client(url)


@pytest.mark.parametrize("token", ["a b", "a\n", "ü"])
def test_a_token_that_is_none_is_refused_and_not_told(token: str) -> None:
    with pytest.raises(InputError) as caught:
        geocast.Client(token=token)
    assert token not in str(caught.value)


def test_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOCAST_TOKEN", "gct_environment")
    assert geocast.Client()._core.headers["authorization"] == "Bearer gct_environment"
    assert geocast.Client(token="gct_y")._core.headers["authorization"] == "Bearer gct_y"
    monkeypatch.delenv("GEOCAST_TOKEN")
    assert "authorization" not in geocast.AsyncClient()._core.headers


def test_a_closed_client_says_so() -> None:
    with mock_client("sync", FakeLog()) as client:
        pass
    with pytest.raises(ServiceError, match="closed"):
        client.publish(POINT)


def test_a_service_behind_a_path() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "https://example.org/geocast/v1/me"
        return httpx.Response(200, json={"name": "alice", "rights": ["publish"]})

    transport = httpx.MockTransport(handler)
    with geocast.Client("https://example.org/geocast/", "gct_x", transport=transport) as client:
        assert client.me().rights == {"publish"}


@pytest.mark.parametrize("urls", ["http://a:1,http://b:2", ["http://a:1", "http://b:2/"]])
def test_the_next_gateway_is_asked_where_one_fails(urls: str | list[str]) -> None:
    asked: list[str] = []
    away = {"a"}

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if request.url.host in away:
            raise httpx.ConnectError("refused", request=request)
        if request.url.host == "b" and asked.count("b") == 2:
            return httpx.Response(503, json={"detail": "the repository is away"})
        return httpx.Response(200, json={"name": "alice", "rights": ["publish"]})

    transport = httpx.MockTransport(handler)
    with geocast.Client(urls, "gct_x", transport=transport) as client:
        assert client.me().name == "alice"
        assert asked == ["a", "b"]
        away.clear()
        assert client.me().name == "alice"
        assert asked == ["a", "b", "b", "a"], "it stays where it was until that fails"


def test_when_no_gateway_answers_all_are_named() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    transport = httpx.MockTransport(handler)
    client = geocast.Client("http://a, https://b", "gct_x", retries=1, transport=transport)
    with client, pytest.raises(ServiceError, match="http://a, https://b cannot be reached"):
        client.me()
    with pytest.raises(InputError, match="no address"):
        geocast.Client([])
