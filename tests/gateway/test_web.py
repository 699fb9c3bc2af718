"""The files of the web client, and what they may load."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from geocast.gateway.assets import Assets
from geocast.gateway.web import policy
from geocast.operate import Settings
from tests.gateway.served import refusal, serving

ROOT = Path(__file__).parents[2]
SCRIPT = b"console.log('hello');" * 100


@pytest.fixture
def static(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Geocast</title>" + " " * 2_000)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets" / "index-AbC_12-x.js").write_bytes(SCRIPT)
    (folder / "assets" / "plain.json").write_text("{}")
    (folder / "assets" / "secret.py").write_text("")
    (tmp_path / "outside.js").write_text("")
    return folder


@contextmanager
def page(place: Path, static: Path, **settings: Any) -> Iterator[httpx.Client]:
    with serving(place, static=static, **settings) as served, served.client(None) as client:
        yield client


@pytest.fixture
def client(tmp_path: Path, static: Path) -> Iterator[httpx.Client]:
    with page(tmp_path, static) as found:
        yield found


def test_the_page(client: httpx.Client, static: Path) -> None:
    answer = client.get("/")
    assert (answer.status_code, answer.text) == (200, (static / "index.html").read_text())
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    rules = dict(
        rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; ")
    )
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    assert rules["style-src"] == "'self'"
    assert rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert rules["base-uri"] == "'none'"


def test_hashed_files_last(client: httpx.Client) -> None:
    answer = client.get("/assets/index-AbC_12-x.js")
    assert (answer.status_code, answer.content) == (200, SCRIPT)
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    for path in ("/assets/plain.json", "/favicon.svg"):
        assert client.get(path).headers["cache-control"] == "no-cache"


def test_compressed_for_those_who_can(client: httpx.Client) -> None:
    path = "/assets/index-AbC_12-x.js"
    with client.stream("GET", path, headers={"Accept-Encoding": "br, gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert len(packed) < len(SCRIPT) / 5
    assert gzip.decompress(packed) == SCRIPT
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert (plain.content, plain.headers["vary"]) == (SCRIPT, "Accept-Encoding")


def test_what_is_known_is_not_sent_again(client: httpx.Client, static: Path) -> None:
    tag = client.get("/").headers["etag"]
    answer = client.get("/", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    (static / "index.html").write_text("new")
    os.utime(static / "index.html", (1, 1))
    assert client.get("/", headers={"If-None-Match": tag}).text == "new"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/nothing.js",
        "/assets/",
        "/assets/secret.py",
        "/assets/../../outside.js",
        "/assets/..%2f..%2foutside.js",
        "/assets/%00.js",
        "/index.html",
        "/manifest.webmanifest",
    ],
)
def test_nothing_else(client: httpx.Client, path: str) -> None:
    refusal(client.get(path), 404)


def test_outside_of_the_folder(static: Path) -> None:
    assets = Assets(static)
    assert assets.get("favicon.svg") is not None
    for name in ("../outside.js", "assets/../../outside.js", "/etc/hosts", "\0.js"):
        assert assets.get(name) is None


def test_without_the_files(tmp_path: Path) -> None:
    with page(tmp_path, tmp_path / "nothing") as client:
        answer = client.get("/")
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/plain")
        assert "`make web` builds it" in answer.text
        refusal(client.get("/assets/index.js"), 404)


def test_what_the_page_has_to_know(tmp_path: Path, static: Path) -> None:
    url = "https://tiles.example:8443/{z}/{x}/{y}.png?key=a;b"
    with page(tmp_path, static) as client:
        found = client.get("/v1/client").json()
        assert found["tiles"] is None
        assert found["version"] == client.get("/openapi.json").json()["info"]["version"]
    url = url.replace(";b", "")
    asked = {"tiles_url": url, "tiles_attribution": "© somebody"}
    with page(tmp_path, static, **asked) as client:
        found = client.get("/v1/client").json()
        assert found["tiles"] == {"url": url, "attribution": "© somebody"}
        assert (
            "connect-src 'self' https://tiles.example:8443;"
            in (client.get("/").headers["content-security-policy"])
        )


def test_a_policy_has_no_holes() -> None:
    for settings in (Settings(), Settings(tiles_url="http://t.example/{x}/{y}/{z}")):
        found = policy(settings)
        assert "unsafe" not in found
        assert "*" not in found


def test_the_page_is_built_from_the_document_that_is_served(client: httpx.Client) -> None:
    kept = json.loads((ROOT / "web" / "openapi.json").read_text())
    assert kept == client.get("/openapi.json").json(), "`make api` writes it anew"
