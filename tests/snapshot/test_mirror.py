"""A snapshot on machines that do not see its directory: fetched once, whole, and let go of."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import pytest
import shapely

from geocast.errors import InputError, StateError
from geocast.operate import on_this_machine
from geocast.pipeline.variants import parse_name
from geocast.snapshot import (
    OpenVersion,
    SnapshotMatcher,
    SnapshotPlace,
    SnapshotServer,
    SnapshotStore,
)
from geocast.snapshot.layout import Layout
from geocast.snapshot.serve import TOKEN_HEADER
from tests.snapshot.samples import batch_of, boxes, found, subscription_table

HOST = "127.0.0.1"
BATCH = batch_of(
    [{"id": "p", "geometry": shapely.box(x, -60, x + 20, 60)} for x in range(-170, 150, 20)]
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SnapshotStore]:
    with SnapshotStore(tmp_path / "driver") as made:
        made.apply(subscription_table(boxes(range(1, 300), seed=1)), [], 1)
        made.apply(subscription_table(boxes(range(300, 310), seed=2)), [1, 2, 3], 2)
        yield made


@pytest.fixture
def server(store: SnapshotStore, tmp_path: Path) -> Iterator[SnapshotServer]:
    with SnapshotServer(tmp_path / "driver", HOST) as running:
        yield running


def place_of(server: SnapshotServer, directory: Path) -> SnapshotPlace:
    return SnapshotPlace(directory, f"http://{HOST}:{server.port}", server.token)


def newest(store: SnapshotStore) -> int:
    latest = store.latest()
    assert latest is not None
    return latest.version


def test_a_fetched_version_matches_as_the_original(
    store: SnapshotStore, server: SnapshotServer, tmp_path: Path
) -> None:
    place = place_of(server, tmp_path / "node")
    for number in (1, 2):
        here = place.here(number)
        assert here == tmp_path / "node"
        expected = found(SnapshotMatcher.open(tmp_path / "driver", number), BATCH)
        assert expected
        assert found(SnapshotMatcher.open(here, number), BATCH) == expected


def test_divided_parts_are_fetched_whole(tmp_path: Path) -> None:
    divider = parse_name("RIsPS[HT]{KT}").divider(8)
    with SnapshotStore(tmp_path / "driver", divider) as store:
        version = store.apply(subscription_table(boxes(range(1, 3000), seed=1)), [], 1).version
        with SnapshotServer(tmp_path / "driver", HOST) as server:
            here = place_of(server, tmp_path / "node").here(version)
    [part] = OpenVersion.read(here, version).divided
    original = tmp_path / "driver" / "parts" / part.name
    files = [file.relative_to(original) for file in original.rglob("*") if file.is_file()]
    assert len(files) > 8
    assert all((part / file).read_bytes() == (original / file).read_bytes() for file in files)


def test_without_an_address_the_directory_itself_is_used(tmp_path: Path) -> None:
    assert SnapshotPlace(tmp_path).here(7) == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_many_who_need_a_version_at_once_fetch_it_once(
    store: SnapshotStore,
    server: SnapshotServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    original = HTTPConnection.request

    def request(self: HTTPConnection, method: str, url: str, **more: object) -> None:
        asked.append(url)
        original(self, method, url, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(HTTPConnection, "request", request)
    place = place_of(server, tmp_path / "node")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(place.here, [2] * 16))
    assert len(asked) == len(set(asked)) > 3


def test_only_what_is_new_travels(
    store: SnapshotStore, server: SnapshotServer, tmp_path: Path
) -> None:
    place = place_of(server, tmp_path / "node")
    place.here(2)
    store.apply(subscription_table(boxes(range(400, 402), seed=3)), [], 3)
    fetched = Layout(tmp_path / "node").read(2).parts
    for name in fetched:
        (tmp_path / "driver" / "parts" / name).rename(tmp_path / name)
    place.here(3)
    assert len(SnapshotMatcher.open(tmp_path / "node", 3)) == 299 + 10 - 3 + 2


@pytest.mark.parametrize("token", ["", "wrong", "wröng"])
def test_nobody_gets_anything_without_the_token(server: SnapshotServer, token: str) -> None:
    connection = HTTPConnection(HOST, server.port, timeout=10)
    connection.request("GET", "/versions/1.json", headers={TOKEN_HEADER: token.encode("latin-1")})
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/lock",
        "/versions",
        "/versions/99.json",
        "/parts/../lock",
        "/versions/../../../../../etc/passwd",
        "/versions/%2e%2e/%2e%2e/secret",
        "//etc/passwd",
    ],
)
def test_only_files_of_snapshots_are_served(
    server: SnapshotServer, tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret").write_text("secret")
    connection = HTTPConnection(HOST, server.port, timeout=10)
    connection.request("GET", path, headers={TOKEN_HEADER: server.token})
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (404, b"")
    connection.close()


def test_a_token_is_not_shown() -> None:
    assert "hidden" not in repr(SnapshotPlace(Path("x"), "http://h:1", "hidden"))


def test_what_cannot_be_fetched_is_an_error_that_says_why(
    server: SnapshotServer, tmp_path: Path
) -> None:
    with pytest.raises(StateError, match=r"snapshot 99 .*versions/99.json: 404"):
        place_of(server, tmp_path / "node").here(99)
    with pytest.raises(StateError, match=r"snapshot 1 .*403"):
        SnapshotPlace(tmp_path / "node", f"http://{HOST}:{server.port}", "guess").here(1)
    with socket.socket() as free:
        free.bind((HOST, 0))
        nobody = f"http://{HOST}:{free.getsockname()[1]}"
        with pytest.raises(StateError, match=f"from {nobody}: .*refused"):
            SnapshotPlace(tmp_path / "node", nobody, "t").here(1)
    assert Layout(tmp_path / "node").numbers() == []


def test_who_is_cut_off_has_nothing_half(
    store: SnapshotStore, server: SnapshotServer, tmp_path: Path
) -> None:
    """A relay that ends after so many bytes stands between; then it is gone, and all is fetched."""
    for limit in (40, 400, 4_000, 20_000):
        with relay(server.port, limit) as port:
            place = SnapshotPlace(tmp_path / f"node-{limit}", f"http://{HOST}:{port}", server.token)
            with pytest.raises(StateError, match="cannot be fetched"):
                place.here(2)
        assert Layout(place.directory).numbers() == []
        here = place_of(server, place.directory).here(2)
        expected = found(SnapshotMatcher.open(tmp_path / "driver", 2), BATCH)
        assert found(SnapshotMatcher.open(here, 2), BATCH) == expected


def test_versions_that_nobody_uses_any_more_are_deleted(
    store: SnapshotStore, server: SnapshotServer, tmp_path: Path
) -> None:
    place = place_of(server, tmp_path / "node")
    layout = Layout(place.here(1))
    place.here(2)
    long_ago = time.time() - 3600
    os.utime(layout.path_of(1), (long_ago, long_ago))
    os.utime(layout.path_of(2), (long_ago, long_ago))
    place.here(2)
    store.apply(subscription_table({}), [4], 3)
    place.here(newest(store))
    assert layout.numbers() == [2, 3]
    assert {path.name for path in layout.parts.iterdir()} == {*layout.read(3).parts}
    place.here(1)
    assert layout.numbers() == [1, 2, 3]


def test_a_server_that_cannot_listen_says_so(server: SnapshotServer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"served on {HOST} port {server.port}: .*in use"):
        SnapshotServer(tmp_path, HOST, server.port)


def test_copies_lie_in_a_folder_of_this_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert on_this_machine(tmp_path) == tmp_path
    monkeypatch.setenv("GEOCAST_NODE_FOLDER", str(tmp_path / "a" / "copies"))
    assert on_this_machine(Path("x/y")) == tmp_path / "a" / "copies" / "x" / "y"
    assert (tmp_path / "a" / "copies").stat().st_mode & 0o077 == 0
    (tmp_path / "link").symlink_to(tmp_path / "a")
    monkeypatch.setenv("GEOCAST_NODE_FOLDER", str(tmp_path / "link"))
    with pytest.raises(StateError, match="belongs to somebody else"):
        on_this_machine(Path("x"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GEOCAST_NODE_FOLDER", str(tmp_path / "file" / "x"))
    with pytest.raises(StateError, match=r"no copies can be kept in .*Not a directory"):
        on_this_machine(Path("x"))


class relay:  # noqa: N801
    """Passes bytes on to a port, and hangs up after so many of the answer."""

    def __init__(self, port: int, limit: int) -> None:
        self._port, self._limit = port, limit
        self._listener = socket.create_server((HOST, 0))

    def __enter__(self) -> int:
        threading.Thread(target=self._run, daemon=True).start()
        return int(self._listener.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _run(self) -> None:
        client, _ = self._listener.accept()
        with client, socket.create_connection((HOST, self._port)) as there:
            threading.Thread(target=pass_on, args=(client, there), daemon=True).start()
            left = self._limit
            while left and (data := there.recv(min(left, 4096))):
                client.sendall(data)
                left -= len(data)
            client.shutdown(socket.SHUT_RDWR)


def pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(4096):
            target.sendall(data)
    except OSError:
        return
