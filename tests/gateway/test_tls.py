"""The gateway over TLS: pages, streams and sessions; certificates that are replaced, or wrong."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from geocast.client import Client
from geocast.errors import InputError, ServiceError
from geocast.model import Right
from geocast.operate import Certificate, Place, Settings
from geocast.repository import Repository
from tests.certificates import make_authority, make_pair
from tests.deliver.receiver import until
from tests.gateway.served import Served, point, serving, square


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pem")
    make_authority(folder)
    for name in ("first", "second"):
        make_pair(folder, name)
    make_pair(folder, "locked", "sesame")
    (folder / "password").write_text("sesame\n")
    (folder / "garbage").write_text("no PEM\n")
    return folder


@pytest.fixture
def trust(pem: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=pem / "ca.pem")


@pytest.fixture
def secure(pem: Path, tmp_path: Path) -> Iterator[Served]:
    certificate, key = str(pem / "first.pem"), str(pem / "first.key")
    with serving(tmp_path, tls_certificate=certificate, tls_key=key) as found:
        yield found


def test_page_api_stream_and_session(secure: Served, trust: ssl.SSLContext, pem: Path) -> None:
    token = secure.token("alice")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=secure.url, verify=trust, headers=headers, trust_env=False) as http:
        http.timeout = httpx.Timeout(30)
        assert http.get("/").headers["content-type"].startswith("text/html")
        assert http.post("/v1/publications", json=point(id="a")).status_code == 202
        assert http.post("/v1/subscriptions", json=square("near")).status_code == 201
        secure.deliver([("seen", ["near"])])
        with http.stream("GET", "/v1/stream") as stream:
            lines = stream.iter_lines()
            assert any(line == "event: match" for line in lines)
    address = secure.url.replace("https", "wss") + "/v1/session"
    with connect(address, ssl=trust, additional_headers=headers, proxy=None) as session:
        session.send('{"type":"connect"}')
        assert "connected" in str(session.recv(timeout=10))
        assert "seen" in str(session.recv(timeout=10))
    with Client(secure.url, token, ca=str(pem / "ca.pem")) as client:
        assert [one.publication for one in client.notifications()] == ["seen"]


def test_who_does_not_trust_it_is_told(
    secure: Served, pem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(secure.url, "x", retries=0) as client, pytest.raises(ServiceError) as refused:
        client.notifications()
    assert "certificate verify failed" in str(refused.value)
    monkeypatch.setenv("GEOCAST_CA", str(pem / "ca.pem"))
    with Client(secure.url, secure.token("alice")) as client:
        assert client.notifications() == []
    for name, reason in (("nowhere", "No such file"), ("garbage", "no certificate in PEM")):
        with pytest.raises(InputError, match=f"{name}: {reason}"):
            Client(secure.url, ca=str(pem / name))


def test_neither_plain_nor_old(secure: Served) -> None:
    port = int(secure.url.rpartition(":")[2])
    plain = secure.url.replace("https", "http")
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{plain}/healthz", trust_env=False)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    with (
        socket.create_connection(("127.0.0.1", port), 10) as raw,
        pytest.raises((ssl.SSLError, OSError)),
    ):
        old.wrap_socket(raw)


def served_name(port: int, trust: ssl.SSLContext) -> str:
    """Who the certificate says the server is."""
    with (
        socket.create_connection(("127.0.0.1", port), 10) as raw,
        trust.wrap_socket(raw, server_hostname="127.0.0.1") as secured,
    ):
        told = secured.getpeercert()
    assert told is not None
    return str(dict(pair for group in told["subject"] for pair in group)["commonName"])  # type: ignore[misc]


def test_a_process_takes_a_new_certificate_up(
    pem: Path, tmp_path: Path, trust: ssl.SSLContext
) -> None:
    """By SIGHUP at once; one that cannot be used is said, and the one before stays."""
    place = Place(tmp_path)
    with closing(Repository.open(place.repository)) as repository:
        repository.accounts.add("alice", Right)
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"

    def install(name: str, secret: str) -> None:
        shutil.copy(pem / name, certificate)
        shutil.copy(pem / secret, key)

    install("first.pem", "first.key")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "geocast", "gateway", "--data", str(tmp_path)]
    files = {"GEOCAST_TLS_CERTIFICATE": str(certificate), "GEOCAST_TLS_KEY": str(key)}
    journal = tmp_path / "journal"
    with journal.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port)], stderr=output, env={**os.environ, **files}
        )
    try:
        until(lambda: f"running on https://127.0.0.1:{port}" in journal.read_text())
        assert served_name(port, trust) == "first"
        install("second.pem", "first.key")
        process.send_signal(signal.SIGHUP)
        until(lambda: "is not that of the certificate" in journal.read_text())
        assert served_name(port, trust) == "first"
        install("second.pem", "second.key")
        process.send_signal(signal.SIGHUP)
        until(lambda: served_name(port, trust) == "second")
        process.terminate()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


def test_a_certificate_that_is_replaced_is_noticed(
    pem: Path, tmp_path: Path, trust: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geocast.gateway.server._LOOK_SECONDS", 0.05)
    both = tmp_path / "both.pem"
    both.write_text((pem / "first.pem").read_text() + (pem / "first.key").read_text())
    with serving(tmp_path, tls_certificate=str(both)) as found:
        port = int(found.url.rpartition(":")[2])
        assert served_name(port, trust) == "first"
        time.sleep(0.01)
        both.write_text((pem / "second.pem").read_text() + (pem / "second.key").read_text())
        until(lambda: served_name(port, trust) == "second", 10)


@pytest.mark.parametrize(
    ("certificate", "key", "password", "message"),
    [
        ("nowhere.pem", "first.key", "", r"nowhere.pem: No such file"),
        ("first.pem", "nowhere.key", "", r"nowhere.key: No such file"),
        ("first.pem", "second.key", "", r"key .*second.key is not that of .*first.pem"),
        ("garbage", "first.key", "", r"garbage has no certificate in PEM"),
        ("first.pem", "garbage", "", r"garbage has no key in PEM"),
        ("first.pem", "", "", r"first.pem has no key in PEM"),
        ("locked.pem", "locked.key", "", r"locked.key cannot be decrypted: check GEOCAST_TLS_KEY"),
        ("locked.pem", "locked.key", "wrong", r"locked.key cannot be decrypted"),
        (".", "first.key", "", r"Is a directory"),
    ],
)
def test_what_cannot_be_used_is_named(
    pem: Path, certificate: str, key: str, password: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        Certificate(str(pem / certificate), str(pem / key) if key else "", lambda: password)
    assert "wrong" not in str(error.value)


def test_the_password_of_a_key_comes_by_file_or_environment(pem: Path) -> None:
    named = {
        "GEOCAST_TLS_CERTIFICATE": str(pem / "locked.pem"),
        "GEOCAST_TLS_KEY": str(pem / "locked.key"),
    }
    for more in (
        {"GEOCAST_TLS_KEY_PASSWORD": "sesame"},
        {"GEOCAST_TLS_KEY_PASSWORD_FILE": str(pem / "password")},
    ):
        settings = Settings.of({**named, **more})
        assert settings.certificate is not None
        assert settings.scheme == "https"
        assert "sesame" not in repr(settings)
    with pytest.raises(InputError, match="GEOCAST_TLS_KEY_PASSWORD_FILE: /nowhere"):
        _ = Settings.of({**named, "GEOCAST_TLS_KEY_PASSWORD_FILE": "/nowhere"}).certificate
    with pytest.raises(InputError, match="needs GEOCAST_TLS_CERTIFICATE"):
        Settings.of({"GEOCAST_TLS_KEY": "key.pem"})
