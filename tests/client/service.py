"""A real gateway on a real server, and a small stand-in for the pipeline and delivery."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import shapely

import geocast
from geocast.gateway import create_app
from geocast.gateway.server import GatewayServer, server_config
from geocast.log import SqliteLog
from geocast.model import MatchRecord, Right, now, split_key
from geocast.operate import Settings
from geocast.repository import Repository

__all__ = ["Service", "running"]


class Service:
    """The service in a directory; it can be stopped and started again at the same address."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self._directory = directory
        self._settings = settings
        self._port = 0
        self._server: GatewayServer | None = None
        self._thread: threading.Thread | None = None
        self._started = threading.Event()
        self.repository, self.log = self._open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def token(self, name: str, *rights: Right) -> str:
        """Make an account and return a token of it."""
        account = self.repository.accounts.add(name, rights)
        return self.repository.accounts.issue_token(account.number)[1]

    def start(self) -> None:
        self._started.clear()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._started.wait(30), "the gateway does not start"

    def stop(self) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive(), "the gateway does not stop"

    def _open(self) -> tuple[Repository, SqliteLog]:
        repository = Repository.open(f"sqlite:///{self._directory / 'repository.sqlite'}")
        return repository, SqliteLog.open(self._directory / "log")

    def _serve(self) -> None:
        repository, log = self._open()
        with closing(repository), closing(log):
            settings = Settings(port=self._port, **{"request_rate": 1e6, **self._settings})
            app = create_app(repository, log, settings)
            self._server = _Announcing(server_config(app, settings), self)
            self._server.run()

    def announce(self, port: int) -> None:
        self._port = port
        self._started.set()

    def match(self, stop: threading.Event) -> None:
        """Activate subscriptions and match publications until told to stop."""
        repository, log = self._open()
        with closing(repository), closing(log):
            while not stop.wait(0.02):
                _activate(repository)
                for partition in range(log.partitions):
                    _match(repository, log, partition)

    def close(self) -> None:
        self.stop()
        self.repository.close()
        self.log.close()


class _Announcing(GatewayServer):
    def __init__(self, config: Any, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self._service.announce(self.servers[0].sockets[0].getsockname()[1])


@contextmanager
def running(directory: Path, **settings: Any) -> Iterator[Service]:
    """Run a service for the length of the `with` block."""
    service, stop = Service(directory, **settings), threading.Event()
    _warm()
    matching = threading.Thread(target=service.match, args=(stop,), daemon=True)
    service.start()
    matching.start()
    try:
        yield service
    finally:
        stop.set()
        matching.join(20)
        service.close()


def _warm() -> None:
    """Match once, so that no test waits for kernels to load."""
    area = pa.table({"id": ["1"], "geometry": [shapely.to_wkb(shapely.box(0, 0, 1, 1))]})
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}}
    value = orjson.dumps({**point, "properties": {}})
    assert _matches([area], [{"offset": 7, "value": value}]) == {"7": [1]}


def _activate(repository: Repository) -> None:
    subscriptions = repository.subscriptions
    version, through = subscriptions.snapshot_at()
    changes = subscriptions.changes(through, 1_000)
    if changes.count:
        subscriptions.activate(version + 1, through, changes.through, now())


def _match(repository: Repository, log: SqliteLog, partition: int) -> None:
    start = repository.mailbox.position("test", partition)
    found = log.read(partition, start).to_pylist()
    if not found:
        return
    _, through = repository.subscriptions.snapshot_at()
    matches = _matches(list(repository.subscriptions.standing(through)), found)
    records = [_record(row, matches.get(str(row["offset"]), [])) for row in found]
    matched = [record for record in records if record.versions]
    repository.mailbox.deliver("test", partition, start, start + len(found), matched)


def _matches(standing: list[pa.Table], rows: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the subscription versions that each record concerns, by its offset."""
    if not standing:
        return {}
    publications = pa.Table.from_pylist([_publication(row) for row in rows])
    table = geocast.Matcher(pa.concat_tables(standing)).match(publications)
    return {row["publication"]: list(map(int, row["subscriptions"])) for row in table.to_pylist()}


def _publication(row: dict[str, Any]) -> dict[str, Any]:
    feature = orjson.loads(row["value"])
    geometry = shapely.from_geojson(orjson.dumps(feature["geometry"]).decode())
    attributes = {"mag": None, "kind": None, **(feature["properties"] or {})}
    return {**attributes, "id": str(row["offset"]), "geometry": shapely.to_wkb(geometry)}


def _record(row: dict[str, Any], versions: list[int]) -> MatchRecord:
    publisher, identifier = split_key(row["key"])
    place = (row["partition"], row["offset"], row["time"])
    return MatchRecord(*place, publisher, identifier, 1, 1, versions, row["value"])
