from __future__ import annotations

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from geocast.deliver.address import MAX_URL, check_url, is_public, resolve
from geocast.errors import InputError

PUBLIC = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::1", "64:ff9b::808:808"]
PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:a9fe:a9fe",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "4000::1",
]


def written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert is_public(ip_address(address))
    check_url(f"https://{written(address)}/hook", allow_private=False)


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public_are_refused_unless_allowed(address: str) -> None:
    url = f"http://{written(address)}:8080/hook"
    assert not is_public(ip_address(address))
    with pytest.raises(InputError, match="not a public address"):
        check_url(url, allow_private=False)
    check_url(url, allow_private=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/geocast?x=1",
        "http://hooks.example.com:8080",
        "https://bücher.example/hook",
        "https://a_b.example/",
        "https://intranet/hook",
    ],
)
def test_names(url: str) -> None:
    check_url(url, allow_private=False)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "api.localhost"])
def test_names_of_this_machine(host: str) -> None:
    with pytest.raises(InputError, match="not a public address"):
        check_url(f"http://{host}/", allow_private=False)
    check_url(f"http://{host}/", allow_private=True)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "0177.0.0.1",
        "127.0.0.0x1",
        "1.2.3.4.5",
        "127.0.0.1.",
        "localhost.",
        "%31%32%37.0.0.1",
        "\uff11\uff12\uff17.0.0.1",
        "[::1%25lo]",
        "[fe80::1%eth0]",
        "a..b",
        "-a.example",
        "a b",
        "",
        "x" * 64 + ".example",
    ],
)
@pytest.mark.parametrize("allow_private", [False, True])
def test_hosts_that_could_mean_several_things_are_refused(host: str, allow_private: bool) -> None:
    with pytest.raises(InputError):
        check_url(f"http://{host}/hook", allow_private)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("example.com/hook", "only http and https"),
        ("https://user:secret@example.com/", "user or password"),
        ("https://good.example\\@evil.example/", "user or password"),
        ("https://example.com:0/", "not a port"),
        ("https://example.com:70000/", "not a port"),
        ("https://example.com:x/", "not a URL"),
        ("https://exam\nple.com/", "not a URL"),
        ("https://example.com/\ud800", "not a URL"),
        ("https://example.com/" + "x" * MAX_URL, "characters"),
    ],
)
def test_urls_that_cannot_be_a_webhook(url: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        check_url(url, allow_private=True)


def resolved(host: str, *addresses: str, allow_private: bool = False) -> list[str]:
    async def lookup(host: str, port: int) -> Sequence[str]:
        return addresses

    return asyncio.run(resolve(host, 443, allow_private, lookup))


def test_a_name_is_what_its_addresses_are() -> None:
    assert resolved("a.example", "8.8.8.8", "2606:4700::1111") == ["8.8.8.8", "2606:4700::1111"]
    assert resolved("a.example", "127.0.0.1", allow_private=True) == ["127.0.0.1"]


@pytest.mark.parametrize("address", PRIVATE)
def test_one_address_that_is_not_public_is_too_many(address: str) -> None:
    with pytest.raises(InputError, match="not public"):
        resolved("a.example", "8.8.8.8", address)
    with pytest.raises(InputError, match="not public"):
        resolved(address)


def test_a_name_without_addresses() -> None:
    with pytest.raises(InputError, match="no address"):
        resolved("a.example")


def test_the_systems_own_names() -> None:
    with pytest.raises(InputError, match="not public"):
        asyncio.run(resolve("localhost", 80, allow_private=False))
    assert "127.0.0.1" in asyncio.run(resolve("localhost", 80, allow_private=True))
