"""The command `geocast link`."""

from __future__ import annotations

from typing import Annotated

import typer

from geocast.cli.talk.connect import DEFAULT_URL, Data, Token, Url, connect

__all__ = ["link"]

_MINUTE = 60


def link(
    minutes: Annotated[
        int, typer.Option(metavar="N", help="How long it can be used.", min=1, max=1440)
    ] = 10,
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Print an address that opens the map, signed in as you; it can be used once."""
    with connect(url, token, data) as client:
        address = client.issue_link(minutes * _MINUTE)
    typer.echo(f"open it within {minutes} min, once:", err=True)
    typer.echo(address)
