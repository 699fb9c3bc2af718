"""A gateway on a real server, in a thread, over a repository and a log of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import orjson

from geocast.gateway import create_app
from geocast.gateway.assets import STATIC
from geocast.gateway.server import GatewayServer, server_config
from geocast.log import SqliteLog
from geocast.model import Account, MatchRecord, Right, publication_key
from geocast.operate import Settings
from geocast.repository import Repository

RIGHTS = {"alice": tuple(Right), "paul": (Right.PUBLISH,), "sue": (Right.SUBSCRIBE,)}
"""The accounts that tests use, and what they may do."""


@dataclass
class Served:
    """A running gateway, and what it serves."""

    url: str
    repository: Repository
    log: SqliteLog
    server: GatewayServer
    accounts: dict[str, Account] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def anew(self) -> Served:
        """Return the same gateway with new accounts of the same names."""
        return replace(self, accounts={}, tokens={})

    def account(self, name: str) -> Account:
        """Return an account by the name that tests use; its real name is longer."""
        if name not in self.accounts:
            self.add(name, *RIGHTS[name])
        return self.accounts[name]

    def token(self, name: str) -> str:
        """Return a token of an account."""
        self.account(name)
        return self.tokens[name]

    def add(self, name: str, *rights: Right) -> None:
        """Add an account with a token."""
        found = self.repository.accounts.add(f"{name}-{uuid4().hex[:8]}", rights)
        _, self.tokens[name] = self.repository.accounts.issue_token(found.number)
        self.accounts[name] = found

    def stop(self) -> None:
        """Tell the server to stop, as a signal would."""
        self.server.should_exit = True

    def key(self, name: str, identifier: str) -> str:
        """Return the key of a publication in the log."""
        return publication_key(self.account(name).name, identifier)

    def client(self, name: str | None = "alice") -> httpx.Client:
        """Return a client with the token of an account."""
        headers = {} if name is None else {"Authorization": f"Bearer {self.token(name)}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def deliver(self, records: Sequence[tuple[str, Sequence[str]]], account: str = "alice") -> None:
        """Put matches into the mailbox: ids of publications, with ids of subscriptions."""
        features = [orjson.dumps(point(id=name)) for name, _ in records]
        keys = [self.key(account, name) for name, _ in records]
        positions = self.log.append(list(zip(keys, features, strict=True)))
        found = [
            MatchRecord(
                position.partition,
                position.offset,
                position.time,
                self.account(account).name,
                name,
                1,
                1,
                [self._version(account, each) for each in ids],
                feature,
            )
            for (name, ids), position, feature in zip(records, positions, features, strict=True)
        ]
        start = self.repository.mailbox.position("test", 0)
        self.repository.mailbox.deliver("test", 0, start, start + len(found), found)

    def _version(self, account: str, name: str) -> int:
        found = self.repository.subscriptions.get(self.account(account).number, name)
        assert found is not None
        return found.vnumber


@contextmanager
def serving(
    directory: Path,
    ready: Callable[[], bool] = lambda: True,
    static: Path = STATIC,
    **settings: Any,
) -> Iterator[Served]:
    """Serve a gateway, with these settings."""
    with (
        closing(Repository.open(f"sqlite:///{directory / 'repository.sqlite'}")) as repository,
        closing(SqliteLog.open(directory / "log")) as log,
    ):
        chosen = Settings(port=0, **{"request_rate": 1e6, **settings})
        app = create_app(repository, log, chosen, ready, static)
        server = GatewayServer(server_config(app, chosen))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield Served(_url(server, chosen.scheme), repository, log, server)
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server does not stop"


def _url(server: GatewayServer, scheme: str) -> str:
    end = time.monotonic() + 90
    while not server.started:
        assert time.monotonic() < end, "the server does not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    return f"{scheme}://127.0.0.1:{port}"


def point(x: float = 1.0, y: float = 2.0, **members: Any) -> dict[str, Any]:
    """Return a Feature with a point."""
    geometry = {"type": "Point", "coordinates": [x, y]}
    return {"type": "Feature", "geometry": geometry, "properties": {}, **members}


def square(name: str | None = None, **properties: Any) -> dict[str, Any]:
    """Return a Feature that asks for what lies in a square around the origin."""
    ring = [[-5, -5], [5, -5], [5, 5], [-5, 5], [-5, -5]]
    feature = {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties,
    }
    return feature if name is None else {**feature, "id": name}


def collection(*features: Any) -> dict[str, Any]:
    """Return a FeatureCollection."""
    return {"type": "FeatureCollection", "features": list(features)}


def refusal(answer: httpx.Response, status: int) -> dict[str, Any]:
    """Return the problem document of an answer that must be one, of that status."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    return problem
