"""Publishing with both clients, against a service made of one function."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from geocast.client import core as cores
from geocast.errors import ServiceError
from tests.client.both import mock_client
from tests.client.fakes import POINT, FakeLog, problem


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "backoff", lambda attempt: 0.0)


def test_publish_one(kind: str) -> None:
    log = FakeLog()
    with mock_client(kind, log) as client:
        receipt = client.publish(POINT, {"a": 1}, id="x")
        assert client.publish((POINT, {"a": 1})).offset == 1
    assert (receipt.id, receipt.accepted, receipt.duplicate, receipt.offset) == (
        "x",
        True,
        False,
        0,
    )
    assert receipt.published is not None
    assert receipt.published.isoformat() == "2026-11-16T05:00:00+00:00"
    assert log.requests[0].headers["authorization"] == "Bearer gct_x"
    assert orjson.loads(log.requests[0].content) == {
        "type": "Feature",
        "id": "x",
        "geometry": POINT,
        "properties": {"a": 1},
    }


def test_a_retry_does_not_publish_twice(kind: str) -> None:
    mishaps = [
        httpx.ReadError("reset"),
        httpx.ConnectError("refused"),
        httpx.Response(502),
        httpx.Response(503),
        httpx.Response(504),
    ]
    log = FakeLog(*mishaps)
    with mock_client(kind, log) as client:
        receipt = client.publish(POINT)
    assert log.ids == [receipt.id]
    assert receipt.duplicate
    assert len(log.requests) == 6
    assert len({request.content for request in log.requests}) == 1


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout("")])
def test_retries_end(kind: str, error: Exception) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        attempts.append(1)
        raise error

    attempts: list[int] = []
    with (
        mock_client(kind, handler, retries=2) as client,
        pytest.raises(ServiceError, match="http://service cannot be reached: ") as caught,
    ):
        client.publish(POINT)
    assert len(attempts) == 3
    assert caught.value.status is None


def test_a_busy_service_is_left_alone_for_as_long_as_it_asks(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("asyncio.sleep", sleep)
    soon = "Fri, 01 Jan 1999 00:00:00 GMT"
    busy = [{"retry-after": "7"}, {"retry-after": "999"}, {"retry-after": soon}, {}]
    log = FakeLog(*(httpx.Response(429, headers=headers) for headers in busy))
    with mock_client(kind, log) as client:
        client.publish(POINT)
    assert waits == [7, 60, 0.05, 0]


def test_a_rejected_feature_is_an_error_with_the_reason(kind: str) -> None:
    with (
        mock_client(kind, FakeLog()) as client,
        pytest.raises(ServiceError, match="nothing can be used: it is bad") as caught,
    ):
        client.publish(POINT, {"bad": True}, id="x")
    assert caught.value.status == 422
    assert caught.value.problem["errors"][0]["id"] == "x"
    assert "\n" not in str(caught.value)


def test_publish_many(kind: str) -> None:
    log = FakeLog(httpx.ReadError("reset"))
    features: list[Any] = [(POINT, {"bad": n % 3 == 0}) for n in range(10)]
    features[4] = "nonsense"
    with mock_client(kind, log) as client:
        receipts = client.publish_many(iter(features), chunk=4)
        assert client.publish_many([]) == []
        assert len(client.publish_many({"type": "FeatureCollection", "features": [POINT]})) == 1
    assert [receipt.index for receipt in receipts] == list(range(10))
    rejected = {receipt.index: receipt.reason for receipt in receipts if not receipt.accepted}
    assert rejected.keys() == {0, 3, 4, 6, 9}
    assert rejected[3] == "it is bad"
    assert "not str" in str(rejected[4])
    assert [receipt.id for receipt in receipts if receipt.accepted] == log.ids[:5]
    assert [len(request.content.split(b"\x1e")) - 1 for request in log.requests] == [4, 4, 4, 1, 1]


def test_publish_each_publishes_as_it_is_read(kind: str) -> None:
    log = FakeLog()
    with mock_client(kind, log) as client:
        receipts = client.publish_each([POINT] * 10, chunk=3)
        assert log.requests == []
        assert next(receipts).accepted
        assert len(log.requests) == 1
        assert len(list(receipts)) == 9
    assert len(log.requests) == 4


def test_what_is_too_large_is_sent_in_halves(kind: str) -> None:
    log = FakeLog(most=600)
    features = [(POINT, {"text": "x" * (1000 if n == 5 else 10)}) for n in range(20)]
    with mock_client(kind, log) as client:
        receipts = client.publish_many(features)
    assert [receipt.index for receipt in receipts] == list(range(20))
    [bad] = [receipt for receipt in receipts if not receipt.accepted]
    assert (bad.index, bad.reason) == (5, "the body is too long")
    assert log.ids == [receipt.id for receipt in receipts if receipt.accepted]


def test_all_of_a_chunk_rejected(kind: str) -> None:
    with mock_client(kind, FakeLog()) as client:
        receipts = client.publish_many([(POINT, {"bad": True})] * 3)
    assert [receipt.reason for receipt in receipts] == ["it is bad"] * 3


def test_a_refusal_of_the_whole_is_an_error(kind: str) -> None:
    log = FakeLog(problem(403, "account 'x' does not have the right 'publish'"))
    with mock_client(kind, log) as client, pytest.raises(ServiceError, match="the right 'publish'"):
        client.publish_many([POINT, POINT])


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"accepted":[]}', b'{"accepted":[],"rejected":[]}']
)
def test_an_answer_that_makes_no_sense_is_an_error(kind: str, body: bytes) -> None:
    with mock_client(kind, lambda request: httpx.Response(202, content=body)) as client:
        with pytest.raises(ServiceError, match="not understood"):
            client.publish(POINT)
        with pytest.raises(ServiceError, match="not understood"):
            client.publish_many([POINT])
