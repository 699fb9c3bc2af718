"""Two gateways of one service: whoever uses one that is killed goes on with the other."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from geocast.client import Client
from geocast.log import publications
from geocast.operate import Place, Settings
from tests.deliver.receiver import until
from tests.deliver.world import World
from tests.kafka.world import feature
from tests.postgres import Server

pytestmark = pytest.mark.timeout(240)
MESSAGES = 400


class Gateways:
    """Two gateways, each with a directory of its own, as on two machines."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self._directory = directory
        self._environment = {**os.environ, **environment}
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self.ports = [_free_port(), _free_port()]
        self.urls = [f"http://127.0.0.1:{port}" for port in self.ports]

    def start(self, number: int) -> None:
        data, port = self._directory / f"gateway-{number}", self.ports[number]
        data.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "geocast", "gateway", "--data", str(data)]
        with (data / "journal").open("ab") as journal:
            self._running[number] = subprocess.Popen(
                [*command, "--port", str(port)], stderr=journal, env=self._environment
            )

    def wait(self, number: int) -> None:
        until(lambda: self.status(number) is not None)

    def status(self, number: int, path: str = "/healthz") -> int | None:
        try:
            return httpx.get(self.urls[number] + path, trust_env=False, timeout=20).status_code
        except httpx.TransportError:
            return None

    def kill(self, number: int) -> None:
        self._running[number].kill()
        self._running.pop(number).wait()

    def close(self) -> None:
        for number in list(self._running):
            self.kill(number)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def world(postgres: Server) -> Iterator[World]:
    with postgres.database() as url, closing(World(url)) as found:
        yield found


@pytest.fixture(scope="module")
def environment(kafka: str, world: World) -> dict[str, str]:
    return {"GEOCAST_LOG": f"kafka://{kafka}/gateways", "GEOCAST_REPOSITORY": world.url}


@pytest.fixture(scope="module")
def gateways(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateways]:
    with closing(Gateways(tmp_path_factory.mktemp("gateways"), environment)) as found:
        for number in (0, 1):
            found.start(number)
        for number in (0, 1):
            found.wait(number)
        yield found


def session(url: str, token: str, after: int) -> Iterator[tuple[int, str]]:
    """Give cursors and publications of a WebSocket session, until it ends."""
    headers = {"Authorization": f"Bearer {token}"}
    address = url.replace("http", "ws") + "/v1/session"
    try:
        with connect(address, additional_headers=headers, proxy=None) as socket:
            socket.send(json.dumps({"type": "connect", "after": after}))
            while True:
                told = json.loads(socket.recv(timeout=20))
                for event in told.get("notifications", []):
                    yield event["geocastcursor"], event["subject"]
    except (ConnectionClosed, OSError):
        return


def test_what_one_gateway_is_told_holds_at_the_other(gateways: Gateways, world: World) -> None:
    """Tokens, links, ids of publications, subscriptions, readiness: nothing is of one gateway."""
    first, second = gateways.urls
    account = world.reader
    token = world.repository.accounts.issue_token(account.number)[1]
    press = world.repository.accounts.issue_token(world.publisher.number)[1]
    with Client(first, token) as one, Client(second, token) as other:
        one.subscribe({"type": "Point", "coordinates": [1, 41]}, id="here")
        assert other.subscription("here").id == "here"
    with Client(first, press) as one, Client(second, press) as other:
        assert not one.publish(feature("same", 1, 41)).duplicate
        assert other.publish(feature("same", 1, 41)).duplicate
        assert other.unpublish("same")["known"] is not None
    headers = {"Authorization": f"Bearer {token}"}
    link = httpx.post(f"{first}/v1/links", json={}, headers=headers, trust_env=False).json()
    code = {"code": link["code"]}
    signed = httpx.post(f"{second}/v1/links/redeem", json=code, trust_env=False)
    assert signed.is_success, signed.text
    assert not httpx.post(f"{first}/v1/links/redeem", json=code, trust_env=False).is_success
    assert [gateways.status(number, "/readyz") for number in (0, 1)] == [503, 503]
    world.repository.members.beat("elsewhere", "pipeline", 60)
    assert [gateways.status(number, "/readyz") for number in (0, 1)] == [200, 200]


def test_streams_sessions_and_publishers_move_when_a_gateway_is_killed(
    gateways: Gateways, world: World, environment: dict[str, str], tmp_path: Path
) -> None:
    repository = world.repository
    subscription = world.subscribe()
    token = repository.accounts.issue_token(world.reader.number)[1]
    press = repository.accounts.issue_token(world.publisher.number)[1]
    delivered: list[str] = []
    streamed: list[str] = []
    told: list[str] = []
    moved: list[int] = []

    def listen() -> None:
        with Client(gateways.urls, token) as client:
            for one in client.listen(acknowledge=False):
                streamed.append(one.publication)
                if len(streamed) >= MESSAGES:
                    return

    def converse() -> None:
        after, turn = 0, 1
        while len(told) < MESSAGES:
            for cursor, publication in session(gateways.urls[turn % 2], token, after):
                after = cursor
                told.append(publication)
                if len(told) >= MESSAGES:
                    return
            moved.append(turn)
            turn += 1
            time.sleep(0.05)

    def publish() -> None:
        with Client(",".join(gateways.urls), press) as client:
            for start in range(0, 200, 10):
                features = [feature(f"p{i}", i % 90, 45) for i in range(start, start + 10)]
                receipts = client.publish_many(features)
                assert all(one.reason is None for one in receipts)
                time.sleep(0.05)

    def deliver(count: int) -> None:
        for _ in range(count // 4):
            delivered.extend(world.publish(subscription, times=4))
            time.sleep(0.02)

    threads = [threading.Thread(target=work) for work in (listen, converse, publish)]
    for thread in threads:
        thread.start()
    deliver(100)
    gateways.kill(0)
    deliver(100)
    gateways.start(0)
    gateways.wait(0)
    deliver(100)
    gateways.kill(1)
    deliver(100)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    time.sleep(0.2)
    assert streamed == delivered
    assert told == delivered
    assert len(moved) >= 1
    counted = published(tmp_path, environment) - {"sensors/same"}
    assert counted == {f"sensors/p{i}" for i in range(200)}


def published(directory: Path, environment: dict[str, str]) -> set[str]:
    """The keys of what counts in the log of publications, each once."""
    place = Place(directory / "judge")
    with closing(publications(place, Settings.of(environment)).open()) as log:
        counted: list[str] = []
        for partition in range(log.partitions):
            batch = log.read(partition, 0)
            keys = batch.column("key").to_pylist()
            again = log.repeats(batch)
            counted += [key for key, known in zip(keys, again, strict=True) if not known]
    assert len(counted) == len(set(counted))
    return set(counted)
