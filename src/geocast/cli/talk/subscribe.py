"""The commands `geocast subscribe`, `geocast unsubscribe` and `geocast subscriptions`."""

from __future__ import annotations

from typing import Annotated

import typer

from geocast.cli.talk.connect import DEFAULT_URL, Data, Json, Token, Url, connect
from geocast.cli.talk.empty import not_empty

__all__ = ["subscribe", "subscriptions", "unsubscribe"]


def subscribe(
    geometry: Annotated[
        str | None,
        typer.Option(
            metavar="AREA",
            help="A file with one feature, WKT, or GeoJSON.",
            callback=not_empty("the area"),
            show_default=False,
        ),
    ] = None,
    bbox: Annotated[
        str | None,
        typer.Option(
            metavar="W,S,E,N",
            help="A box in place of a geometry.",
            callback=not_empty("the area"),
            show_default=False,
        ),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the publication must do to the area: intersects (the default), within, "
            "contains, covers, coveredby, crosses, disjoint, equals, overlaps, touches.",
            callback=not_empty("the predicate"),
            show_default=False,
        ),
    ] = None,
    condition: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="CQL2",
            help="A filter on the attributes.",
            callback=not_empty("the filter"),
            show_default=False,
        ),
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="Its id; else one is made.",
            callback=not_empty("the id"),
            show_default=False,
        ),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where notifications are sent, as well.",
            callback=not_empty("the URL"),
            show_default=False,
        ),
    ] = None,
    listen: Annotated[
        bool, typer.Option("--listen", help="Go on and show its notifications.")
    ] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Subscribe to publications by where they are and what they say; prints the id.

    For example:

    - `geocast subscribe --bbox 5.9,45.8,10.5,47.8 --filter "mag >= 2"`

    - `geocast subscribe --geometry "POLYGON ((0 0, 9 0, 9 9, 0 0))" --predicate within --listen`
    """
    from geocast.cli.talk.geometry import read_area
    from geocast.cli.talk.listening import Listening, run_listening

    area = read_area(geometry, bbox)
    with connect(url, token, data) as client:
        made = client.subscribe(area, predicate, condition, id=identifier, webhook=webhook)
    secret = (made.facts.webhook or {}).get("secret")
    if secret is not None:
        typer.echo(f"the webhook's secret, told only now: {secret}", err=True)
    typer.echo(made.id, err=listen)
    if listen:
        run_listening(url, token, data, Listening(subscription=made.id))


def unsubscribe(
    identifier: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of the subscription.", callback=not_empty("the id")),
    ],
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Cancel a subscription."""
    with connect(url, token, data) as client:
        client.unsubscribe(identifier)
    typer.echo(f"{identifier}: cancelled", err=True)


def subscriptions(
    json: Json = False, url: Url = DEFAULT_URL, token: Token = None, data: Data = None
) -> None:
    """List your subscriptions: a table, or a GeoJSON Feature a line where that is piped."""
    from geocast.cli.talk.show import show_rows, subscription_cells

    with connect(url, token, data) as client:
        show_rows(
            ["id", "status", "version", "predicate", "area", "filter"],
            ((s.facts.feature, subscription_cells(s.facts)) for s in client.subscriptions()),
            json,
        )
