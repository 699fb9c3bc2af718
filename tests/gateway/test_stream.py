from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from geocast.gateway import watch
from geocast.operate import metrics
from tests.gateway.served import Served, refusal, serving, square


@pytest.fixture
def listener(served: Served, alice: httpx.Client) -> httpx.Client:
    """Alice, with the subscriptions s and t."""
    for name in ("s", "t"):
        assert alice.post("/v1/subscriptions", json=square(name)).status_code == 201
    return alice


@contextmanager
def events(client: httpx.Client, **asked: Any) -> Iterator[Iterator[dict[str, str]]]:
    """Open a stream; yields its events, as their fields."""
    with client.stream("GET", "/v1/stream", **asked) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _parsed(answer.iter_lines())


def _parsed(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        else:
            yield fields
            fields = {}


def take(stream: Iterator[dict[str, str]], count: int) -> list[dict[str, str]]:
    found = (event for event in stream if "data" in event)
    return [next(found) for _ in range(count)]


def names(found: list[dict[str, str]]) -> list[str]:
    data = [orjson.loads(event["data"]) for event in found]
    return [event["data"]["subscription"] + event["subject"] for event in data]


def open_streams() -> float:
    return metrics().sessions.labels(channel="sse")._value.get()  # type: ignore[no-any-return]


def eventually(check: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def test_what_waits_comes_first_then_what_is_new(served: Served, listener: httpx.Client) -> None:
    served.deliver([("a", ["s", "t"])])
    with events(listener) as stream:
        assert next(stream) == {"retry": "1000"}
        first = take(stream, 2)
        served.deliver([("b", ["s"])])
        second = take(stream, 1)
    assert names(first + second) == ["sa", "ta", "sb"]
    assert [event["event"] for event in first] == ["match", "match"]
    cursors = [int(event["id"]) for event in first + second]
    assert cursors == sorted(cursors)
    assert cursors[0] == orjson.loads(first[0]["data"])["geocastcursor"]


def test_resume_by_last_event_id(served: Served, listener: httpx.Client) -> None:
    served.deliver([(name, ["s"]) for name in "abcd"])
    with events(listener) as stream:
        seen = take(stream, 2)
    with events(listener, headers={"Last-Event-ID": seen[-1]["id"]}) as stream:
        rest = take(stream, 2)
    assert names(seen + rest) == ["sa", "sb", "sc", "sd"]


def test_the_header_wins_over_the_query(served: Served, listener: httpx.Client) -> None:
    served.deliver([(name, ["s"]) for name in "abc"])
    ids = [n["geocastcursor"] for n in listener.get("/v1/notifications").json()["notifications"]]
    with events(listener, params={"after": ids[0]}) as stream:
        assert names(take(stream, 1)) == ["sb"]
    headers = {"Last-Event-ID": str(ids[1])}
    with events(listener, params={"after": ids[0]}, headers=headers) as stream:
        assert names(take(stream, 1)) == ["sc"]


def test_what_is_acknowledged_does_not_come_again(served: Served, listener: httpx.Client) -> None:
    served.deliver([("a", ["s"]), ("b", ["s"])])
    with events(listener) as stream:
        [first] = take(stream, 1)
    listener.post("/v1/notifications/ack", json={"through": int(first["id"])})
    with events(listener) as stream:
        assert names(take(stream, 1)) == ["sb"]


def test_of_one_subscription(served: Served, listener: httpx.Client) -> None:
    with events(listener, params={"subscription": "t"}) as stream:
        served.deliver([("a", ["s", "t"]), ("b", ["s"]), ("c", ["t"])])
        assert names(take(stream, 2)) == ["ta", "tc"]


def test_a_withdrawal_follows(served: Served, listener: httpx.Client) -> None:
    with events(listener) as stream:
        served.deliver([("a", ["s"])])
        [match] = take(stream, 1)
        assert listener.delete("/v1/publications/a").json()["notices"] == 1
        [withdrawal] = take(stream, 1)
    assert withdrawal["event"] == "withdrawal"
    assert orjson.loads(withdrawal["data"])["data"]["match"] == orjson.loads(match["data"])["id"]


def test_many_at_once_are_not_lost(served: Served, listener: httpx.Client) -> None:
    with events(listener) as stream:
        served.deliver([(str(k), ["s", "t"]) for k in range(1_000)])
        found = take(stream, 2_000)
    assert names(found) == [f"{s}{k}" for k in range(1_000) for s in "st"]


@pytest.mark.parametrize("header", ["x", "-1", "1.5", "9" * 19, "9" * 30, "²"])
def test_bad_last_event_ids(listener: httpx.Client, header: str) -> None:
    headers = {b"Last-Event-ID": header.encode()}
    problem = refusal(listener.get("/v1/stream", headers=headers), 422)
    assert "Last-Event-ID" in problem["detail"]


def test_streams_are_counted_and_end_with_their_client(listener: httpx.Client) -> None:
    before = open_streams()
    with events(listener) as stream:
        next(stream)
        eventually(lambda: open_streams() == before + 1)
    eventually(lambda: open_streams() == before)


def test_notifications_are_counted_with_their_delay(served: Served, listener: httpx.Client) -> None:
    sent = metrics().notifications.labels(channel="sse")
    delay = metrics().delay.labels(channel="sse")
    count, seconds = sent._value.get(), delay._sum.get()
    with events(listener) as stream:
        served.deliver([("a", ["s", "t"])])
        take(stream, 2)
    assert sent._value.get() == count + 2
    assert 0 < delay._sum.get() - seconds < 20


def test_a_quiet_stream_says_so(
    monkeypatch: pytest.MonkeyPatch, served: Served, listener: httpx.Client
) -> None:
    beats_often(monkeypatch)
    with listener.stream("GET", "/v1/stream") as answer:
        lines = answer.iter_lines()
        assert [next(lines) for _ in range(6)] == ["retry: 1000", "", ":", "", ":", ""]


def beats_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HEARTBEAT_SECONDS", 0.1)


@pytest.mark.parametrize("how", ["revoke", "remove", "rights"])
def test_a_stream_ends_when_it_is_no_longer_allowed(
    monkeypatch: pytest.MonkeyPatch, served: Served, how: str
) -> None:
    beats_often(monkeypatch)
    accounts, sue = served.repository.accounts, served.account("sue")
    with served.client("sue") as client, client.stream("GET", "/v1/stream") as answer:
        lines = answer.iter_lines()
        next(lines)
        if how == "revoke":
            [token] = accounts.tokens(sue.number)
            accounts.revoke(sue.number, token.number)
        elif how == "remove":
            accounts.remove(sue.name)
        else:
            accounts.set_rights(sue.name, [])
        start = time.monotonic()
        assert set(lines) <= {"", ":"}
        assert time.monotonic() - start < 5


def test_streams_end_when_the_server_stops(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client("alice") as client:
        answer = client.send(client.build_request("GET", "/v1/stream"), stream=True)
        lines = answer.iter_lines()
        next(lines)
        start = time.monotonic()
        served.stop()
        assert list(lines) == [""]
        assert time.monotonic() - start < 2
        answer.close()
