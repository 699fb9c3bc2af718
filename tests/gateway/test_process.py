"""The gateway as a process: it starts, survives half-open connections, and stops."""

from __future__ import annotations

import resource
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
from websockets.sync.client import connect

from geocast.gateway.protocol import HEAD_SECONDS
from geocast.operate import Place, hold_lock
from tests.gateway.process import Process, running
from tests.gateway.served import point, refusal

HALF_OPEN = 10_000
SPARE = 500


def test_ready_once_the_pipeline_says_so(tmp_path: Path) -> None:
    with running(tmp_path) as process, process.client() as client:
        refusal(client.get("/readyz"), 503)
        with hold_lock(Place(tmp_path).ready, "the pipeline"):
            assert client.get("/readyz").status_code == 200
        refusal(client.get("/readyz"), 503)
        assert client.post("/v1/publications", json=point(id="a")).status_code == 202


def test_it_stops_with_open_streams_and_sessions(tmp_path: Path) -> None:
    with running(tmp_path) as process, ExitStack() as stack:
        client = stack.enter_context(process.client())
        lines = []
        for _ in range(20):
            stream = stack.enter_context(client.stream("GET", "/v1/stream"))
            lines.append(stream.iter_lines())
            assert next(lines[-1]) == "retry: 1000"
        headers = {"Authorization": f"Bearer {process.token}"}
        address = process.url.replace("http", "ws") + "/v1/session"
        session = stack.enter_context(connect(address, additional_headers=headers, proxy=None))
        session.send('{"type":"connect"}')
        session.recv(timeout=10)
        half_open = stack.enter_context(process.connect())
        half_open.sendall(b"POST /v1/publications HTTP/1.1\r\n")
        status, seconds = process.terminate()
        assert status == 0
        assert seconds < 5
        assert all(list(each) == [""] for each in lines)
    journal = (tmp_path / "journal").read_text()
    assert "the gateway has stopped" in journal
    assert process.token not in journal
    assert "Traceback" not in journal


def test_half_open_connections_keep_nobody_from_being_served(tmp_path: Path) -> None:
    count = min(HALF_OPEN, _allowed() - SPARE)
    with running(tmp_path) as process, ExitStack() as stack:
        served = psutil.Process(process.child.pid)
        before = served.num_fds()
        client = stack.enter_context(process.client(timeout=5))
        begun = time.monotonic()
        held = [stack.enter_context(_half_open(process, k)) for k in range(count)]
        for k in range(20):
            assert client.post("/v1/publications", json=point(id=str(k))).status_code == 202
        assert served.num_fds() > before + min(count, 100)
        print(f"{count} half-open connections, opened in {time.monotonic() - begun:.1f} s")
        end = time.monotonic() + 3 * HEAD_SECONDS
        while served.num_fds() > before + 20:
            assert client.get("/v1/me").status_code == 200
            assert time.monotonic() < end, "half-open connections are kept"
            time.sleep(0.5)
        assert len(held) == count


def _allowed() -> int:
    """Return how many files a process may have open, after asking for as many as there may be."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def _half_open(process: Process, k: int) -> socket.socket:
    """Open a connection on which nothing comes, or half a head, or half a body without a token."""
    connection = process.connect()
    if k % 3 == 1:
        connection.sendall(b"GET /v1/me HTTP/1.1\r\nHost: x\r\n")
    elif k % 3 == 2:
        connection.sendall(b"POST /v1/publications HTTP/1.1\r\nContent-Length: 99\r\n\r\n{")
    return connection
