"""One line to one receiver, and the addresses that it may connect to."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpcore
import pytest

from geocast.deliver.connect import CheckedBackend
from geocast.deliver.post import Answer, Line, LineOptions
from geocast.errors import InputError
from geocast.model import Kind, Notification, cloud_event
from tests.deliver.receiver import Post, receiving

CERTIFICATE = Path(__file__).with_name("hooks.example.pem")
"""Of a receiver that is called hooks.example, with its key; signed by itself."""

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def notification(cursor: int = 1, kind: Kind = Kind.MATCH) -> Notification:
    return Notification(
        cursor=cursor,
        match=f"match-{cursor}",
        kind=kind,
        subscription="mine",
        version=1,
        publisher="sensors",
        publication=f"event-{cursor}",
        published=1_800_000_000_000_000,
        notified=1_800_000_000_500_000,
        feature='{"type":"Feature","id":"ü","geometry":null,"properties":{}}'.encode(),
    )


def options(
    *, allow_private: bool = True, timeout: float = 5.0, network: CheckedBackend | None = None
) -> LineOptions:
    return LineOptions(
        timeout=timeout,
        allow_private=allow_private,
        network=network or CheckedBackend(allow_private),
        certificates=ssl.create_default_context(cafile=CERTIFICATE),
    )


def post(
    url: str, chosen: LineOptions, *notifications: Notification, secret: str = SECRET
) -> list[Answer]:
    async def all_of_them() -> list[Answer]:
        line = Line(url, secret, chosen)
        try:
            return [await line.post(one) for one in notifications or (notification(),)]
        finally:
            await line.close()

    return asyncio.run(all_of_them())


def expected_signature(key: bytes, received: Post) -> str:
    text = f"{received.headers['webhook-id']}.{received.headers['webhook-timestamp']}."
    digest = hmac.new(key, text.encode() + received.body, hashlib.sha256).digest()
    return "v1," + base64.standard_b64encode(digest).decode()


@pytest.mark.parametrize(
    ("secret", "key"),
    [(SECRET, base64.b64decode(SECRET.removeprefix("whsec_"))), ("plain ü", "plain ü".encode())],
)
def test_a_post_is_a_signed_cloud_event(secret: str, key: bytes) -> None:
    with receiving() as receiver:
        assert post(receiver.url + "?a=b", options(), secret=secret) == [Answer(204)]
        [received] = receiver.posts
    assert received.path == "/hook?a=b"
    assert received.body == cloud_event(notification())
    assert received.headers["host"] == f"127.0.0.1:{receiver.server_port}"
    assert received.headers["content-type"] == "application/cloudevents+json"
    assert received.headers["webhook-id"] == received.event["id"] == "match-1"
    assert abs(int(received.headers["webhook-timestamp"]) - time.time()) < 60
    assert received.headers["webhook-signature"] == expected_signature(key, received)


def test_the_withdrawal_of_a_match_is_a_message_of_its_own() -> None:
    with receiving() as receiver:
        post(receiver.url, options(), notification(kind=Kind.WITHDRAWAL))
        [received] = receiver.posts
    assert received.headers["webhook-id"] == received.event["id"] == "match-1-withdrawn"


def test_one_connection_is_kept() -> None:
    with receiving() as receiver:
        answers = post(receiver.url, options(), *(notification(n) for n in range(5)))
        assert all(answer.accepted for answer in answers)
        assert len({received.connection for received in receiver.posts}) == 1


@pytest.mark.parametrize("status", [200, 202, 299])
def test_any_2xx_is_accepted(status: int) -> None:
    with receiving(lambda before: status) as receiver:
        assert post(receiver.url, options())[0].accepted


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 410, 429, 500, 503])
def test_anything_else_is_not(status: int) -> None:
    with receiving(lambda before: status) as receiver:
        [answer] = post(receiver.url, options())
        assert len(receiver.posts) == 1
    assert not answer.accepted
    assert str(status) in str(answer)
    assert answer.gone == (status == 410)
    assert ("redirects are not followed" in str(answer)) == (status < 400)


def test_a_receiver_that_takes_too_long() -> None:
    def slow_at_first(before: int) -> int:
        time.sleep(0.5 if before == 0 else 0)
        return 204

    with receiving(slow_at_first) as receiver:
        slow, quick = post(receiver.url, options(timeout=0.2), notification(1), notification(2))
    assert str(slow) == "no answer within 0.2 s"
    assert quick.accepted


@contextmanager
def raw_server(handle: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that answers a connection with whatever bytes it likes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.recv(65536)
                    try:
                        handle(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            stop.set()
            thread.join()


def test_an_answer_that_drips_is_bounded_by_the_whole_time() -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.02)

    with raw_server(drip) as url:
        started = time.monotonic()
        [answer] = post(url, options(timeout=0.3))
        assert time.monotonic() - started < 1.5
    assert not answer.accepted


def test_a_huge_answer_is_not_read_to_its_end() -> None:
    sent: list[int] = []

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
        sent.extend(connection.send(b"x" * 65_536) for _ in range(1_000_000_000 // 65_536))

    with raw_server(flood) as url:
        assert post(url, options())[0].accepted
    assert sum(sent) < 100_000_000


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_no_http_is_a_failure_and_not_a_crash(answer: bytes) -> None:
    with raw_server(lambda connection: connection.sendall(answer)) as url:
        [failed] = post(url, options())
    assert failed.status is None
    assert failed.reason


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    [answer] = post(f"http://127.0.0.1:{port}/", options())
    assert f"cannot connect to 127.0.0.1:{port}" in str(answer)


def test_a_line_to_a_url_or_with_a_secret_that_cannot_be() -> None:
    with pytest.raises(InputError, match="not a public address"):
        Line("http://127.0.0.1/", SECRET, options(allow_private=False))
    with pytest.raises(InputError, match="secret"):
        Line("https://example.com/", "", options())


class Network(httpcore.AnyIOBackend):
    """Remembers where connections would go, and lets them go to a local receiver instead."""

    def __init__(self, port: int) -> None:
        self.asked: list[str] = []
        self._port = port

    async def connect_tcp(self, host: str, port: int, *rest: object) -> httpcore.AsyncNetworkStream:
        self.asked.append(host)
        return await super().connect_tcp("127.0.0.1", self._port)


def one_after_the_other(*answers: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    remaining = list(answers)

    async def lookup(host: str, port: int) -> Sequence[str]:
        return remaining.pop(0)

    return lookup


def test_a_name_that_changes_its_address_after_the_check_changes_nothing() -> None:
    lookup = one_after_the_other(["8.8.8.8"], ["127.0.0.1"])
    with receiving() as receiver:
        network = Network(receiver.server_port)
        backend = CheckedBackend(False, lookup=lookup, network=network)
        chosen = options(allow_private=False, network=backend)
        first = post("http://rebind.example:81/hook", chosen)
        second = post("http://rebind.example:81/hook", chosen)
        assert [received.headers["host"] for received in receiver.posts] == ["rebind.example:81"]
    assert first == [Answer(204)]
    assert second == [Answer(None, "'rebind.example' has an address that is not public")]
    assert network.asked == ["8.8.8.8"]


def test_no_connection_if_one_of_several_addresses_is_private() -> None:
    network = Network(1)
    lookup = one_after_the_other(["8.8.8.8", "10.0.0.1"])
    backend = CheckedBackend(False, lookup=lookup, network=network)
    [answer] = post("https://mixed.example/", options(allow_private=False, network=backend))
    assert "not public" in str(answer)
    assert network.asked == []


def test_a_name_for_loopback_is_refused_without_a_connection() -> None:
    lookup = one_after_the_other(["127.0.0.1"])
    with receiving() as receiver:
        chosen = options(allow_private=False, network=CheckedBackend(False, lookup=lookup))
        [answer] = post(f"http://harmless.example:{receiver.server_port}/", chosen)
        assert receiver.posts == []
    assert "not public" in str(answer)


def test_the_systems_name_for_loopback_is_refused() -> None:
    async def connect() -> None:
        await CheckedBackend(False).connect_tcp("localhost", 9)

    with pytest.raises(httpcore.ConnectError, match="not public"):
        asyncio.run(connect())


def test_a_name_that_nobody_knows() -> None:
    async def lookup(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    chosen = options(network=CheckedBackend(True, lookup=lookup))
    [answer] = post("http://nobody.invalid/", chosen)
    assert "'nobody.invalid' cannot be resolved" in str(answer)


def test_the_next_address_is_tried_where_the_first_does_not_answer() -> None:
    async def lookup(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    with receiving() as receiver:
        chosen = options(network=CheckedBackend(True, lookup=lookup))
        [answer] = post(f"http://two.example:{receiver.server_port}/", chosen)
    assert answer.accepted


@pytest.mark.parametrize(("name", "accepted"), [("hooks.example", True), ("other.example", False)])
def test_the_certificate_must_be_that_of_the_name(name: str, accepted: bool) -> None:
    async def lookup(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    asked: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    context.sni_callback = lambda _, server_name, __: asked.append(server_name)
    with receiving(tls=context) as receiver:
        chosen = options(network=CheckedBackend(True, lookup=lookup))
        [answer] = post(f"https://{name}:{receiver.server_port}/", chosen)
    assert asked == [name]
    assert answer.accepted == accepted
    assert accepted or "certificate" in str(answer).lower()
