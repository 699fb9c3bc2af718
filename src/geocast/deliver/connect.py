"""Connections of webhooks: always to an address that was checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import httpcore
from httpcore import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream

from geocast.deliver.address import Lookup, resolve, system_lookup
from geocast.errors import InputError

__all__ = ["CheckedBackend"]

_MOST_ADDRESSES: Final = 4


class CheckedBackend(AsyncNetworkBackend):
    """Connects to a name by the addresses that `resolve` allowed, and by no others.

    The layers above keep the name, for the certificate and the Host header. The addresses of a
    name are tried one after the other, each for its share of the time.
    """

    def __init__(
        self,
        allow_private: bool,
        *,
        lookup: Lookup = system_lookup,
        network: AsyncNetworkBackend | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._lookup = lookup
        self._network = network or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Connect to the first of the host's addresses that answers."""
        addresses = (await self._resolved(host, port))[:_MOST_ADDRESSES]
        share = None if timeout is None else timeout / len(addresses)
        failure: Exception | None = None
        for address in addresses:
            try:
                return await self._network.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise httpcore.ConnectError(f"cannot connect to {host}:{port}") from failure

    async def _resolved(self, host: str, port: int) -> list[str]:
        try:
            return await resolve(host, port, self._allow_private, self._lookup)
        except InputError as error:
            raise httpcore.ConnectError(str(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(f"{host!r} cannot be resolved: {error}") from error
