from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from geocast.gateway.limits import BodyLimit, Bucket
from geocast.gateway.problems import Problem
from tests.gateway.served import Served, collection, point, refusal, serving

LIMIT = 5_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("small"), max_body=LIMIT) as served:
        yield served


@pytest.mark.parametrize("path", ["/v1/publications", "/v1/subscriptions", "/v1/accounts"])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_long(small: Served, path: str, chunked: bool) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(200):
            yield b" " * 1_000

    body = chunks() if chunked else b" " * (LIMIT + 1)
    headers = {"Content-Type": "application/json"}
    with small.client("alice") as client:
        problem = refusal(client.post(path, content=body, headers=headers), 413)
        assert str(LIMIT) in problem["detail"]
        assert client.get("/v1/me").status_code == 200


def test_a_body_as_long_as_may_be(small: Served) -> None:
    with small.client("alice") as client:
        feature = point(id="a", properties={"x": ""})
        text = client.build_request("POST", "/", json=feature).content
        body = text.replace(b'"x":""', b'"x":"%s"' % (b"x" * (LIMIT - len(text))))
        assert len(body) == LIMIT
        assert client.post("/v1/publications", content=body).status_code == 202
        assert client.post("/v1/publications", content=iter([body])).status_code == 202


def test_small_bodies_are_enough_for_what_is_no_geojson(served: Served) -> None:
    with served.client("alice") as client:
        body = b'{"through":1%s}' % (b" " * (1 << 20))
        headers = {"Content-Type": "application/json"}
        refusal(client.post("/v1/notifications/ack", content=body, headers=headers), 413)


def raw(served: Served, *heads: str) -> socket.socket:
    host, _, port = served.url.removeprefix("http://").partition(":")
    found = socket.create_connection((host, int(port)), timeout=20)
    lines = [*heads, f"Authorization: Bearer {served.token('alice')}", f"Host: {host}"]
    found.sendall("\r\n".join([*lines, "", ""]).encode())
    return found


def test_a_body_that_is_shorter_than_it_says(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with raw(served, "POST /v1/publications HTTP/1.1", "Content-Length: 100") as connection:
        connection.sendall(b'{"type":')
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1_000) == b""
    with served.client("alice") as client:
        assert client.get("/v1/me").status_code == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_length_that_is_no_number(served: Served) -> None:
    with raw(served, "POST /v1/publications HTTP/1.1", "Content-Length: ten") as connection:
        assert connection.recv(1_000).startswith(b"HTTP/1.1 400")


def test_a_chunk_that_is_none(served: Served) -> None:
    heads = ("POST /v1/publications HTTP/1.1", "Transfer-Encoding: chunked")
    with raw(served, *heads) as connection:
        connection.sendall(b"zzz\r\n")
        assert connection.recv(1_000).startswith(b"HTTP/1.1 400")


def _accepted(connection: socket.socket, piece: bytes, most: int) -> int:
    """Send a piece so often, or until the other side closes; return how often it went."""
    for count in range(most):
        try:
            connection.sendall(piece)
        except OSError:
            return count
        time.sleep(0.001)
    return most


def test_a_head_without_end(served: Served) -> None:
    with raw(served, "GET /v1/me HTTP/1.1", "X: " + "x" * 50_000) as connection:
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200")
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(b"GET /v1/me HTTP/1.1\r\nX: ")
        assert _accepted(connection, b"x" * 10_000, 1_000) < 500


def test_a_bucket_fills_at_its_rate() -> None:
    at = 0.0
    bucket = Bucket(10.0, lambda: at)
    assert [bucket.take(1) for _ in range(10)] == [0.0] * 10
    assert bucket.take(1) == pytest.approx(0.1)
    at = 0.25
    assert [bucket.take(1) > 0 for _ in range(3)] == [False, False, True]
    at = 100.0
    assert [bucket.take(1) > 0 for _ in range(11)] == [False] * 10 + [True]


def test_a_bucket_goes_into_debt_for_what_is_large() -> None:
    at = 0.0
    bucket = Bucket(10.0, lambda: at)
    assert bucket.take(0) == 0.0
    assert bucket.take(50) == 0.0
    assert bucket.take(0) == pytest.approx(4.0)
    assert bucket.take(1) == pytest.approx(4.1)


def test_too_many_requests(tmp_path: Path) -> None:
    with serving(tmp_path, request_rate=5) as served:
        with served.client("alice") as client:
            answers = [client.get("/v1/me") for _ in range(12)]
            refused = [answer for answer in answers if answer.status_code == 429]
            assert answers[0].status_code == 200
            assert refused
            problem = refusal(refused[0], 429)
            assert "5 requests a second" in problem["detail"]
            assert int(refused[0].headers["retry-after"]) == 1
            assert client.get("/healthz").status_code == 200
        with served.client("sue") as other:
            assert other.get("/v1/me").status_code == 200


def test_too_many_features(tmp_path: Path) -> None:
    with serving(tmp_path, publish_rate=100) as served, served.client("paul") as client:
        many = collection(*(point() for _ in range(450)))
        assert client.post("/v1/publications", json=many).status_code == 202
        answer = client.post("/v1/publications", json=point())
        assert "100 features a second" in refusal(answer, 429)["detail"]
        assert 3 <= int(answer.headers["retry-after"]) <= 4


async def _read_all(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass


def _pass_body(limit: BodyLimit, receive: Receive) -> None:
    scope = {"type": "http", "path": "/v1/publications", "headers": []}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    asyncio.run(limit(scope, receive, send))


def test_a_body_that_does_not_come() -> None:
    async def receive() -> Message:
        await asyncio.sleep(60)
        raise AssertionError("waited for too long")

    with pytest.raises(Problem) as refused:
        _pass_body(BodyLimit(_read_all, LIMIT, idle_seconds=0.05), receive)
    assert refused.value.status_code == 408


def test_all_bodies_together_are_bounded() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * 600, "more_body": next(more)}

    limit = BodyLimit(_read_all, LIMIT, held_bodies=1_000)
    for _ in range(3):
        more = iter([False])
        _pass_body(limit, receive)
    more = iter([True, False])
    with pytest.raises(Problem) as refused:
        _pass_body(limit, receive)
    assert refused.value.status_code == 503
    more = iter([False])
    _pass_body(limit, receive)


def test_small_bodies_do_not_take_the_room_of_large_ones() -> None:
    """Of some small bodies nobody knows whose they are before they are read."""

    async def all_at_once() -> None:
        limit, end = BodyLimit(_read_all, LIMIT, held_bodies=1_000), asyncio.Event()

        async def pass_body(path: str, size: int, *, slowly: bool = False) -> None:
            parts = iter([True, False] if slowly else [False])

            async def receive() -> Message:
                if not (more := next(parts)) and slowly:
                    await end.wait()
                return {"type": "http.request", "body": b"x" * size, "more_body": more}

            async def send(message: Message) -> None:
                raise AssertionError(message)

            await limit({"type": "http", "path": path, "headers": []}, receive, send)

        async with asyncio.TaskGroup() as group:
            group.create_task(pass_body("/v1/accounts", 60, slowly=True))
            await asyncio.sleep(0)
            with pytest.raises(Problem) as refused:
                await pass_body("/v1/accounts", 100)
            assert refused.value.status_code == 503
            await pass_body("/v1/publications", 900)
            end.set()

    asyncio.run(all_at_once())
