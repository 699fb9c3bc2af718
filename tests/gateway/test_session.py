from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from geocast.gateway import watch
from geocast.operate import metrics
from tests.gateway.served import Served, point, serving, square


@contextmanager
def session(served: Served, name: str = "alice") -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {served.token(name)}"}
    with connect(_address(served), additional_headers=headers, proxy=None) as socket:
        yield socket


def _address(served: Served) -> str:
    return served.url.replace("http", "ws") + "/v1/session"


def ask(socket: ClientConnection, **message: Any) -> dict[str, Any]:
    socket.send(orjson.dumps(message).decode())
    return tell(socket)


def tell(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(socket.recv(timeout=10))
    return found


def problem(answer: dict[str, Any], status: int) -> dict[str, Any]:
    assert answer["type"] == "problem", answer
    assert answer["problem"]["status"] == status
    found: dict[str, Any] = answer["problem"]
    return found


def test_a_whole_life(served: Served) -> None:
    with session(served) as socket:
        assert ask(socket, type="ping", ref=1) == {"type": "pong", "ref": 1}
        made = ask(socket, type="subscribe", feature=square("s", colour="red"), ref="a")
        assert (made["type"], made["ref"]) == ("subscribed", "a")
        assert made["feature"]["properties"]["colour"] == "red"
        connected = ask(socket, type="connect")
        assert (connected["type"], connected["after"]) == ("connected", 0)
        published = ask(socket, type="publish", feature=point(id="p"))
        assert published["receipt"]["id"] == "p"
        served.deliver([("m", ["s"])])
        notify = tell(socket)
        assert notify["type"] == "notify"
        [event] = notify["notifications"]
        assert (event["subject"], event["geocastcursor"]) == ("m", notify["cursor"])
        withdrawn = ask(socket, type="unpublish", id="p")
        assert (withdrawn["type"], withdrawn["notices"]) == ("unpublished", 0)
        done = ask(socket, type="ack", through=notify["cursor"])
        assert done == {"type": "acknowledged", "acknowledged": 1, "ref": None}
        gone = ask(socket, type="unsubscribe", id="s")
        assert gone == {"type": "unsubscribed", "id": "s", "ref": None}


def test_resume(served: Served) -> None:
    with session(served) as socket:
        ask(socket, type="subscribe", feature=square("s"))
        ask(socket, type="subscribe", feature=square("t"))
        served.deliver([(name, ["s", "t"]) for name in "abc"])
        ask(socket, type="connect")
        cursor = tell(socket)["notifications"][1]["geocastcursor"]
    with session(served) as socket:
        assert ask(socket, type="connect", after=cursor, subscription="s")["after"] == cursor
        found = tell(socket)["notifications"]
        assert [event["subject"] for event in found] == ["b", "c"]


def test_a_long_number_as_id(served: Served) -> None:
    text = orjson.dumps({"type": "publish", "feature": point(id="@")}).decode()
    with session(served) as socket:
        socket.send(text.replace('"@"', "123456789012345678901234567890"))
        assert tell(socket)["receipt"]["id"] == "123456789012345678901234567890"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 400),
        ("{", 400),
        ("nonsense", 400),
        ('{"type":"publish","feature":NaN}', 400),
        ("[" * 5_000, 400),
        (b"\xff\xfe", 400),
        ("null", 422),
        ("[]", 422),
        ("7", 422),
        ("{}", 422),
        ('{"type":7}', 422),
        ('{"type":"dance"}', 422),
        ('{"type":"ping","more":1}', 422),
        ('{"type":"ping","ref":{}}', 422),
        ('{"type":"connect","after":-1}', 422),
        ('{"type":"connect","after":"1"}', 422),
        ('{"type":"connect","after":99999999999999999999}', 422),
        ('{"type":"connect","subscription":"none"}', 404),
        ('{"type":"subscribe"}', 422),
        ('{"type":"subscribe","feature":[]}', 422),
        ('{"type":"subscribe","feature":{"type":"FeatureCollection","features":[]}}', 422),
        ('{"type":"unsubscribe","id":"none"}', 404),
        ('{"type":"unsubscribe","id":""}', 422),
        ('{"type":"publish","feature":{}}', 422),
        ('{"type":"publish","feature":{"type":"Feature","geometry":null}}', 422),
        ('{"type":"unpublish","id":"none"}', 404),
        ('{"type":"ack"}', 422),
        ('{"type":"ack","through":true}', 422),
        ('{"type":"ack","through":1,"subscription":"none"}', 404),
    ],
)
def test_a_bad_message_gets_a_problem_and_the_session_goes_on(
    served: Served, text: str | bytes, status: int
) -> None:
    with session(served) as socket:
        socket.send(text)
        assert problem(tell(socket), status)["detail"]
        assert ask(socket, type="ping")["type"] == "pong"


def test_the_ref_comes_back_with_a_problem(served: Served) -> None:
    with session(served) as socket:
        assert ask(socket, type="dance", ref="x")["ref"] == "x"


def test_an_id_is_taken(served: Served) -> None:
    with session(served) as socket:
        ask(socket, type="subscribe", feature=square("s"))
        problem(ask(socket, type="subscribe", feature=square("s")), 409)


def test_connected_already(served: Served) -> None:
    with session(served) as socket:
        ask(socket, type="connect")
        problem(ask(socket, type="connect"), 409)


@pytest.mark.parametrize(
    ("name", "message", "right"),
    [
        ("sue", {"type": "publish", "feature": point()}, "publish"),
        ("sue", {"type": "unpublish", "id": "x"}, "publish"),
        ("paul", {"type": "connect"}, "subscribe"),
        ("paul", {"type": "subscribe", "feature": square()}, "subscribe"),
        ("paul", {"type": "unsubscribe", "id": "x"}, "subscribe"),
        ("paul", {"type": "ack", "through": 1}, "subscribe"),
    ],
)
def test_rights(served: Served, name: str, message: dict[str, Any], right: str) -> None:
    with session(served, name) as socket:
        assert repr(right) in problem(ask(socket, **message), 403)["detail"]


def test_no_session_without_a_token(served: Served) -> None:
    for query in ("", "?access_token=gct_wrong"):
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(_address(served) + query, proxy=None),
        ):
            raise AssertionError("let in")
        response = refused.value.response
        assert response.status_code == 401
        assert response.headers["content-type"] == "application/problem+json"
        assert orjson.loads(response.body or b"")["status"] == 401


def test_a_token_in_the_query_is_not_logged(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    token = served.token("alice")
    query = f"?access_token={token}&x=1"
    with connect(_address(served) + query, proxy=None) as socket:
        assert ask(socket, type="ping")["type"] == "pong"
    lines = [record.getMessage() for record in caplog.records]
    assert any("/v1/session?x=1" in line for line in lines)
    assert not any(token in line for line in lines)


def test_a_message_that_is_too_large(tmp_path: Path) -> None:
    with serving(tmp_path, max_body=10_000) as served, session(served) as socket:
        socket.send("x" * 10_001)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=10)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


def test_too_many_messages(tmp_path: Path) -> None:
    with serving(tmp_path, request_rate=5) as served, session(served) as socket:
        answers = [ask(socket, type="ping") for _ in range(10)]
    assert answers[0]["type"] == "pong"
    assert "5 requests a second" in problem(answers[-1], 429)["detail"]


def test_sessions_are_counted(served: Served) -> None:
    gauge = metrics().sessions.labels(channel="websocket")
    before = gauge._value.get()
    with session(served) as socket:
        ask(socket, type="ping")
        assert gauge._value.get() == before + 1
    end = time.monotonic() + 5
    while gauge._value.get() != before:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_session_ends_when_it_is_no_longer_allowed(
    monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    monkeypatch.setattr(watch, "HEARTBEAT_SECONDS", 0.1)
    accounts, alice = served.repository.accounts, served.account("alice")
    with session(served) as socket:
        ask(socket, type="connect")
        [token] = accounts.tokens(alice.number)
        accounts.revoke(alice.number, token.number)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=5)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


def test_a_revoked_token_is_noticed_without_a_connect(served: Served) -> None:
    accounts, paul = served.repository.accounts, served.account("paul")
    with session(served, "paul") as socket:
        [token] = accounts.tokens(paul.number)
        accounts.revoke(paul.number, token.number)
        time.sleep(1.1)
        problem(ask(socket, type="publish", feature=point()), 401)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=5)


def test_clients_that_vanish_are_no_failure(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with session(served) as socket:
        ask(socket, type="subscribe", feature=square("s"))
        gauge = metrics().sessions.labels(channel="websocket")
        before = gauge._value.get() - 1
        ask(socket, type="connect")
        hard = struct.pack("ii", 1, 0)
        socket.socket.setsockopt(SOL_SOCKET, SO_LINGER, hard)
        served.deliver([(str(k), ["s"]) for k in range(2_000)])
        socket.send('{"type":"ping"}')
        socket.socket.close()
        end = time.monotonic() + 10
        while gauge._value.get() > before:
            assert time.monotonic() < end, "the session is still open"
            time.sleep(0.02)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def test_sessions_end_when_the_server_stops(tmp_path: Path) -> None:
    with serving(tmp_path) as served, session(served) as socket:
        ask(socket, type="connect")
        served.stop()
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=5)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code in (1001, 1008, 1012)
