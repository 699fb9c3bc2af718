"""Which service a command talks to, as whom, and what it says when that fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import typer

from geocast.cli.talk.empty import not_empty
from geocast.errors import GeocastError, InputError, ServiceError

if TYPE_CHECKING:
    from geocast.client import AsyncClient, Client

__all__ = [
    "DEFAULT_URL",
    "Data",
    "Json",
    "Token",
    "Url",
    "complaints",
    "connect",
    "connect_async",
    "explained",
    "is_local",
]

DEFAULT_URL: Final = "http://127.0.0.1:8400"
_DEFAULT_DATA: Final = Path("geocast-data")
_DEFAULT_PORT: Final = 8400
_RETRIES: Final = 2
_NOT_TRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
_TRUST: Final = "; GEOCAST_CA names a file of certificates to trust"
_NUMBER_OF_ERROR: Final = re.compile(r"^\[Errno -?\d+\] ")

Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="GEOCAST_URL",
        metavar="URL",
        help="The service; several gateways with commas.",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="GEOCAST_TOKEN",
        metavar="TOKEN",
        help="Who you are to the service; without it, the admin-token of --data.",
        callback=not_empty("the token"),
        show_default=False,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="GEOCAST_HOME",
        metavar="DIR",
        help="The data directory of a service on this machine; ./geocast-data.",
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="A JSON object a line, as where the output is no terminal.")
]


@contextmanager
def connect(
    url: str, token: str | None, data: Path | None, retries: int = _RETRIES
) -> Iterator[Client]:
    """Give a client for the length of the `with` block; what it cannot do is one clear line."""
    from geocast.client import Client

    with complaints(), Client(url, _token(url, token, data), retries=retries) as client:
        yield client


def connect_async(
    url: str, token: str | None, data: Path | None, retries: int = _RETRIES
) -> AsyncClient:
    """Return an asynchronous client, to be used within `complaints`."""
    from geocast.client import AsyncClient

    return AsyncClient(url, _token(url, token, data), retries=retries)


@contextmanager
def complaints() -> Iterator[None]:
    """Raise what went wrong as `explained`."""
    try:
        yield
    except ServiceError as error:
        found = explained(error)
        if found is error:
            raise
        raise found from error


def explained(error: ServiceError) -> GeocastError:
    """Return the error with what can be done about it.

    What the service refuses is the input's fault, an InputError; a service that is away, busy or
    broken stays a ServiceError.
    """
    from geocast.client.core import UnreachableError

    if isinstance(error, UnreachableError) and not error.sent:
        reason = _NUMBER_OF_ERROR.sub("", error.reason)
        away = "nothing answers at" if error.url.startswith("http:") else "cannot connect to"
        trust = (
            "; GEOCAST_CA names a file of certificates to trust" if _NOT_TRUSTED in reason else ""
        )
        return ServiceError(f"{away} {error.url} ({reason}){trust}; {_way_out(error.url)}")
    if error.status is None or error.status in (408, 429) or error.status >= 500:
        return error
    hint = "; say who you are by --token, GEOCAST_TOKEN or --data DIR"
    return InputError(f"{error}{hint if error.status == 401 else ''}")


def _way_out(url: str) -> str:
    """Return what starts a service where none answers, if that is this machine."""
    parts = urlsplit(url.partition(",")[0])
    other = "--url or GEOCAST_URL names another"
    if parts.scheme != "http" or parts.hostname not in ("127.0.0.1", "localhost"):
        return f"{other} service"
    port = parts.port or 80
    option = "" if port == _DEFAULT_PORT else f" --port {port}"
    return f"`geocast up{option}` starts a service there, {other}"


def _token(url: str, token: str | None, data: Path | None) -> str | None:
    """Return the token to use; an administrator's is not sent to other machines by default."""
    if token:
        return token.strip()
    file = (data or _DEFAULT_DATA) / "admin-token"
    if data is None and not (is_local(url) and file.is_file()):
        return None
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason: Any = getattr(error, "strerror", None) or error
        raise InputError(f"{file}: cannot be read: {reason}") from error


def is_local(url: str) -> bool:
    """Whether a service is on this machine; raises InputError for what is no address."""
    from geocast.client.core import Core

    return Core(url, None, 0).is_local
