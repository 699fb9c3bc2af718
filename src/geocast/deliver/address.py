"""Where webhooks may go: not into this machine or the network around it, unless that is allowed.

A URL is checked twice. `check_url` looks at its text when it is given; `resolve` looks at the
addresses behind its name right before a connection is made, and the connection must go to one
of the addresses that it returned: a name that changes its mind afterwards changes nothing.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

import httpx

from geocast.errors import InputError

__all__ = ["MAX_URL", "Lookup", "check_url", "is_public", "resolve", "system_lookup"]

MAX_URL: Final = 2048
"""The longest URL of a webhook, in characters."""

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host name, for a port; raises OSError where there are none."""

_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNICAST: Final = IPv6Network("2000::/3")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")

# Look-ups that hang must not use up the threads that others need.
_RESOLVERS: Final = ThreadPoolExecutor(64, thread_name_prefix="resolve")


def check_url(url: str, allow_private: bool) -> None:
    """Raise InputError unless the text of this URL can be a webhook's; looks up no names.

    It must be http or https, without user and password, and its host a name, an IPv6 address
    or a dotted IPv4 address; a public one unless `allow_private`.
    """
    parsed = _parsed(url)
    if parsed.scheme not in ("http", "https"):
        raise InputError(f"webhook URL {url!r}: only http and https are possible")
    if parsed.userinfo:
        raise InputError(f"webhook URL {url!r} must not have a user or password")
    if parsed.port is not None and not 0 < parsed.port < 65_536:
        raise InputError(f"webhook URL {url!r}: {parsed.port} is not a port")
    _check_host(url, parsed.raw_host.decode("ascii"), allow_private)


def _parsed(url: str) -> httpx.URL:
    if len(url) > MAX_URL:
        raise InputError(f"a webhook URL may have {MAX_URL} characters, not {len(url)}")
    try:
        return httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InputError(f"{url!r} is not a URL: {error}") from None


def _check_host(url: str, host: str, allow_private: bool) -> None:
    address = _literal(host)
    if address is None and not _is_name(host):
        raise InputError(
            f"webhook URL {url!r}: {host!r} is neither a host name, nor an IPv6 address, nor an "
            "IPv4 address as four decimal numbers"
        )
    private = not is_public(address) if address else _names_this_machine(host)
    if private and not allow_private:
        raise InputError(
            f"webhook URL {url!r}: {host!r} is not a public address "
            "(GEOCAST_ALLOW_PRIVATE_WEBHOOKS=true allows it)"
        )


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that the text writes out; one with a zone (%eth0) is none."""
    try:
        return None if "%" in host else ip_address(host)
    except ValueError:
        return None


def _is_name(host: str) -> bool:
    """Whether this is a name for all resolvers: some read 127.1 or 0x7f000001 as an address."""
    labels = host.lower().split(".")
    well_formed = len(host) <= 253 and all(_LABEL.fullmatch(label) for label in labels)
    return well_formed and not _NUMBER.fullmatch(labels[-1])


def _names_this_machine(host: str) -> bool:
    return host.lower().rpartition(".")[2] == "localhost"


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one of the open internet, for one host.

    An IPv6 address that stands for an IPv4 address (mapped, translated, 6to4) is what that is.
    """
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and address in _UNICAST


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the operating system knows for a name."""
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(_RESOLVERS, _getaddrinfo, host, port)
    return list(dict.fromkeys(found))


def _getaddrinfo(host: str, port: int) -> list[str]:
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


async def resolve(
    host: str, port: int, allow_private: bool, lookup: Lookup = system_lookup
) -> list[str]:
    """Return the addresses of a host, each of which may be connected to.

    Raises InputError if a single one is not public (unless `allow_private`), or if there is
    none; OSError where the name is not known.
    """
    literal = _literal(host)
    found = [str(literal)] if literal else list(await lookup(host, port))
    if not found:
        raise InputError(f"{host!r} has no address")
    if not allow_private and not all(is_public(ip_address(text)) for text in found):
        raise InputError(f"{host!r} has an address that is not public")
    return found
