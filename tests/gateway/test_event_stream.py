"""Publications as they come: batched, sampled, resumed, read once for all."""

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
from geocast.gateway.event_feed import Message, _Listener
from tests.gateway.served import Served, collection, point, refusal, serving
from tests.gateway.test_stream import _parsed, eventually


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Served]:
    """A gateway with a log of its own."""
    with serving(tmp_path) as served:
        yield served


@pytest.fixture
def alice(alone: Served) -> Iterator[httpx.Client]:
    with alone.client("alice") as client:
        yield client


@contextmanager
def opened(client: httpx.Client, last: str | None = None) -> Iterator[Iterator[dict[str, str]]]:
    headers = {} if last is None else {"Last-Event-ID": last}
    with client.stream("GET", "/v1/events/stream", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _parsed(answer.iter_lines())


def publish(client: httpx.Client, *names: str) -> None:
    sent = collection(*(point(id=name) for name in names))
    assert client.post("/v1/publications", json=sent).status_code == 202


def take(stream: Iterator[dict[str, str]], count: int) -> tuple[list[str], int, str]:
    """Read until so many publications are accounted for; return ids, skipped, the last id."""
    names: list[str] = []
    skipped, last = 0, ""
    while len(names) + skipped < count:
        event = next(one for one in stream if "data" in one)
        assert event["event"] == "events"
        data = orjson.loads(event["data"])
        names += [feature["id"] for feature in data["features"]]
        skipped, last = skipped + data["skipped"], event["id"]
    return names, skipped, last


def test_what_is_published_from_now_on(alone: Served, alice: httpx.Client) -> None:
    publish(alice, "before")
    with opened(alice) as stream:
        beginning = next(stream)
        assert beginning == {"retry": "1000", "id": "-".join(map(str, alone.log.ends()))}
        publish(alice, "a", "b")
        names, skipped, last = take(stream, 2)
    assert (sorted(names), skipped) == (["a", "b"], 0)
    assert last == "-".join(map(str, alone.log.ends()))


def test_features_are_those_of_the_list(alice: httpx.Client) -> None:
    with opened(alice) as stream:
        next(stream)
        publish(alice, "a")
        event = next(one for one in stream if "data" in one)
    assert orjson.loads(event["data"])["features"] == alice.get("/v1/events").json()["features"]


def test_resume(alice: httpx.Client) -> None:
    with opened(alice) as stream:
        next(stream)
        publish(alice, "a")
        _, _, last = take(stream, 1)
    publish(alice, *"bcd")
    with opened(alice, last) as stream:
        assert sorted(take(stream, 3)[0]) == ["b", "c", "d"]
        publish(alice, "e")
        assert take(stream, 1)[0] == ["e"]


def test_resume_from_where_a_stream_began(alice: httpx.Client) -> None:
    publish(alice, "before")
    with opened(alice) as stream:
        beginning = next(stream)["id"]
    publish(alice, "a")
    with opened(alice, beginning) as stream:
        assert take(stream, 1)[0] == ["a"]


def test_an_id_of_another_log_begins_now(alice: httpx.Client) -> None:
    publish(alice, "before")
    with opened(alice, "999999-999999") as stream:
        next(stream)
        publish(alice, "a")
        assert take(stream, 1)[0] == ["a"]


def test_much_at_once_is_a_sample(alice: httpx.Client) -> None:
    with opened(alice) as stream:
        next(stream)
        publish(alice, *(str(k) for k in range(5_000)))
        names, skipped, _ = take(stream, 5_000)
    assert len(names) + skipped == 5_000
    assert len(set(names)) == len(names)
    assert skipped > 0


def test_a_long_absence_is_a_sample_of_the_newest(alice: httpx.Client) -> None:
    with opened(alice) as stream:
        beginning = next(stream)["id"]
    publish(alice, *(str(k) for k in range(3_000)))
    with opened(alice, beginning) as stream:
        names, skipped, _ = take(stream, 3_000)
    assert 990 <= len(names) <= 1_000
    assert len(names) + skipped == 3_000
    assert min(map(int, names)) >= 1_900


def test_ten_messages_a_second(alice: httpx.Client) -> None:
    with opened(alice) as stream:
        next(stream)
        start, messages, seen = time.monotonic(), 0, 0
        for k in range(40):
            publish(alice, f"m{k}")
        while seen < 40:
            event = next(one for one in stream if "data" in one)
            seen += len(orjson.loads(event["data"])["features"])
            messages += 1
        took = time.monotonic() - start
    assert messages <= 10 * took + 2


def test_withdrawn_before_it_was_told(alice: httpx.Client) -> None:
    with opened(alice) as stream:
        beginning = next(stream)["id"]
    publish(alice, "a", "b")
    alice.delete("/v1/publications/a")
    with opened(alice, beginning) as stream:
        event = next(one for one in stream if "data" in one)
    data = orjson.loads(event["data"])
    assert ([feature["id"] for feature in data["features"]], data["skipped"]) == (["b"], 0)


def test_one_reader_for_all_and_none_for_nobody(
    alone: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    ends = alone.log.ends

    def counted() -> list[int]:
        looks.append(time.monotonic())
        return ends()

    monkeypatch.setattr(alone.log, "ends", counted)
    time.sleep(0.5)
    assert looks == []
    with opened(alice) as one, opened(alice) as two, opened(alice) as three:
        for stream in (one, two, three):
            next(stream)
        looks.clear()
        start = time.monotonic()
        publish(alice, "a")
        for stream in (one, two, three):
            assert take(stream, 1)[0] == ["a"]
        time.sleep(0.5)
        assert len(looks) <= 10 * (time.monotonic() - start) + 2
    time.sleep(0.5)
    looks.clear()
    time.sleep(0.5)
    assert looks == []


def test_streams_are_counted(alone: Served, alice: httpx.Client) -> None:
    def count() -> int:
        return int(alice.get("/v1/status").json()["event_streams"])

    with opened(alice) as stream:
        next(stream)
        assert count() == 1
    eventually(lambda: count() == 0)


def test_a_slow_listener_is_told_what_it_missed() -> None:
    listener = _Listener()
    for k in range(25):
        listener.tell(Message([k], [b"{}"] * 3, 1))
    for _ in range(20):
        assert listener.waiting.get_nowait() == Message([_], [b"{}"] * 3, 1)
    listener.tell(Message([25], [b"{}"], 0))
    assert listener.waiting.get_nowait() == Message([25], [b"{}"], 20)
    listener.tell(Message([26], [b"{}"], 0))
    assert listener.waiting.get_nowait() == Message([26], [b"{}"], 0)


def test_silence_is_broken_and_a_revoked_token_ends_it(
    alone: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "HEARTBEAT_SECONDS", 0.2)
    number = alone.repository.accounts.tokens(alone.account("alice").number)[0].number
    with alice.stream("GET", "/v1/events/stream") as answer:
        lines = answer.iter_lines()
        while next(lines) != ":":
            continue
        alone.repository.accounts.revoke(alone.account("alice").number, number)
        end = time.monotonic() + 10
        for _ in lines:
            assert time.monotonic() < end, "the stream goes on"


def test_the_stream_ends_with_the_gateway(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "other") as served,
        served.client("alice") as client,
        opened(client) as stream,
    ):
        next(stream)
        start = time.monotonic()
        served.stop()
        assert list(stream) == []
        assert time.monotonic() - start < 3


@pytest.mark.parametrize("last", ["x", "1", "1-2-3", "-1-2", "1-", "9" * 30 + "-1", "1-²"])
def test_bad_last_event_ids(alice: httpx.Client, last: str) -> None:
    headers: Any = {b"Last-Event-ID": last.encode()}
    problem = refusal(alice.get("/v1/events/stream", headers=headers), 422)
    assert "Last-Event-ID" in problem["detail"]
