"""A base map from elsewhere: tiles of a server that the operator names."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.browser.map_page import MapPage, wait_until

pytestmark = pytest.mark.browser

COLOUR = (200, 60, 180)
"""Of no other thing on the page."""


class TileServer(ThreadingHTTPServer):
    """Gives the same tile for every place, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Tiles)
        drawn = BytesIO()
        Image.new("RGB", (256, 256), COLOUR).save(drawn, "PNG")
        self.tile = drawn.getvalue()
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Tiles(BaseHTTPRequestHandler):
    server: TileServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(self.server.tile)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(self.server.tile)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def tile_server() -> Iterator[TileServer]:
    server = TileServer()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@contextmanager
def gateway(place: Path, **settings: str) -> Iterator[str]:
    """Run `geocast gateway`, which serves the page, as a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "geocast",
        "gateway",
        "--data",
        str(place),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"

    def is_up() -> bool:
        assert process.poll() is None, "the gateway ended"
        with suppress(httpx.TransportError):
            return httpx.get(url, trust_env=False).is_success
        return False

    try:
        wait_until("the gateway", is_up)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def test_configured_tiles_and_no_other_host(browser: Browser, tmp_path: Path) -> None:
    with (
        tile_server() as tiles,
        tile_server() as stranger,
        gateway(
            tmp_path,
            GEOCAST_TILES_URL=f"{tiles.url}/{{z}}/{{x}}/{{y}}.png",
            GEOCAST_TILES_ATTRIBUTION="© Somebody's Map",
        ) as url,
    ):
        context = browser.new_context(viewport={"width": 500, "height": 400})
        shown = MapPage(context.new_page(), url)
        hosts: set[str] = set()
        shown.page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
        shown.open()
        wait_until("the tiles are drawn", lambda: has_colour(shown))
        zoom, x, y = tiles.asked[0].removesuffix(".png").strip("/").split("/")
        assert 0 <= int(x) < 2 ** int(zoom)
        assert 0 <= int(y) < 2 ** int(zoom)
        expect(shown.page.locator(".maplibregl-ctrl-attrib")).to_contain_text("© Somebody's Map")
        assert hosts == {url.removeprefix("http://"), tiles.url.removeprefix("http://")}
        assert shown.problems == []

        refused = "url => fetch(url).then(() => 'loaded', () => 'refused')"
        assert shown.page.evaluate(refused, f"{tiles.url}/0/0/0.png") == "loaded"
        assert shown.page.evaluate(refused, f"{stranger.url}/0/0/0.png") == "refused"
        assert stranger.asked == []
        context.close()


def has_colour(shown: MapPage) -> bool:
    picture = Image.open(BytesIO(shown.page.screenshot())).convert("RGB")
    found = picture.getpixel((picture.width // 2, 12))
    return isinstance(found, tuple) and all(
        abs(one - wanted) < 12 for one, wanted in zip(found, COLOUR, strict=True)
    )
