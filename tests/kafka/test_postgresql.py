"""`geocast up --repository postgresql://... --log kafka://...`: on what others run."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from geocast.bench.service import ServiceUnderTest
from tests.postgres import Server

pytestmark = pytest.mark.service

ALPS: Final = {"type": "Polygon", "coordinates": [[[5, 44], [15, 44], [15, 48], [5, 48], [5, 44]]]}
INSIDE: Final = {"type": "Point", "coordinates": [8.5, 47.4]}
EVENTS: Final = 60


def test_publish_subscribe_be_notified(service: ServiceUnderTest) -> None:
    with service.client() as client:
        standing = client.subscribe(ALPS, id="alps").wait_active()
        client.publish(INSIDE, id="first")
        assert next(iter(standing)).publication == "first"
        standing.unsubscribe()
    assert not (service.place.root / "repository.sqlite").exists()


def test_the_server_is_killed_under_load(service: ServiceUnderTest, server: Server) -> None:
    """Each publication arrives, and arrives once, by a stream that stays open."""
    heard: Counter[str] = Counter()
    with service.client() as client:
        client.subscribe(ALPS, id="steady").wait_active()

    def listen() -> None:
        with service.client() as client:
            for told in client.listen(subscription="steady"):
                heard[told.match] += 1
                if len(heard) == EVENTS:
                    return

    listener = threading.Thread(target=listen)
    listener.start()
    with service.client() as client:
        for number in range(EVENTS):
            client.publish(INSIDE, id=f"load-{number}")
            if number in (15, 40):
                server.crash()
                time.sleep(0.5)
                server.resume()
            time.sleep(0.05)
    listener.join(90)
    assert not listener.is_alive(), f"{len(heard)} of {EVENTS} arrived"
    assert set(heard.values()) == {1}
    assert len(heard) == EVENTS


def test_the_password_is_nowhere(service: ServiceUnderTest, server: Server) -> None:
    running = [process for found in service.processes().values() for process in found]
    assert len(running) >= 4
    for process in running:
        assert server.password not in " ".join(process.cmdline())
    secret = server.password.encode()
    files = [file for file in service.place.root.rglob("*") if file.is_file()]
    assert [file for file in files if secret in _content(file)] == []


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
