"""The commands `geocast publish` and `geocast unpublish`."""

from __future__ import annotations

from typing import Annotated

import typer

from geocast.cli.counted import counted
from geocast.cli.talk.connect import DEFAULT_URL, Data, Token, Url, connect
from geocast.cli.talk.empty import not_empty

__all__ = ["publish", "unpublish"]


def publish(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="File of features, or - for standard input.",
            callback=not_empty("the name of the file"),
        ),
    ],
    ids: Annotated[
        bool, typer.Option("--ids", help="Write the id of each publication to standard output.")
    ] = False,
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Publish features: every subscriber whom one concerns is notified.

    Files are GeoParquet (.parquet, .geoparquet), GeoJSON (.geojson, .json) or GeoJSON sequences
    (.geojsonl, .geojsons, .ndjson). Standard input is GeoJSON: a Feature a line, published as
    they come, or one Feature or FeatureCollection. A feature without an id gets one; an id that
    was published before is not published again. Bad features are left out and reported.

    For example:

    - `geocast publish quakes.geojsonl`

    - `tail -f positions.ndjson | geocast publish -`
    """
    from geocast.cli.talk.publishing import publish_file

    with connect(url, token, data, retries=5) as client:
        publish_file(client, file, ids)


def unpublish(
    identifier: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of the publication.", callback=not_empty("the id")),
    ],
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Withdraw a publication: whoever was notified of it gets a notice, nobody else sees it."""
    with connect(url, token, data) as client:
        done = client.unpublish(identifier)
    removed, notices = counted(done["removed"], "notification"), counted(done["notices"], "notice")
    typer.echo(f"{identifier}: withdrawn; {removed} removed, {notices} sent", err=True)
