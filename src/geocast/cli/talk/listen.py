"""The command `geocast listen`."""

from __future__ import annotations

from typing import Annotated

import typer

from geocast.cli.talk.connect import DEFAULT_URL, Data, Json, Token, Url
from geocast.cli.talk.empty import not_empty

__all__ = ["listen"]


def listen(
    subscription: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Only of this subscription.",
            callback=not_empty("the id"),
            show_default=False,
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(
            metavar="CURSOR",
            min=0,
            help="Begin behind this place of your mailbox, not at what is unacknowledged.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="End after so many.", show_default=False),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", min=0, help="End after so many seconds.", show_default=False),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Acknowledge nothing: all stays in the mailbox.")
    ] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Show notifications as they come, beginning with those that nobody has acknowledged.

    On a terminal a line tells time, delay, publication, place and subscription; else each is a
    CloudEvent in JSON, one a line. What was shown is acknowledged, and does not come again.
    Survives broken connections and restarts of the service. Ctrl-C ends it.

    For example:

    - `geocast listen`

    - `geocast listen --subscription alps --count 10 --timeout 60 > ten.ndjson`
    """
    from geocast.cli.talk.listening import Listening, run_listening

    wanted = Listening(subscription, after, json, count, timeout, not keep)
    run_listening(url, token, data, wanted)
