"""The command `geocast match`."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["match"]


def match(
    subscriptions: Annotated[
        str, typer.Argument(metavar="SUBSCRIPTIONS", help="File of subscriptions.")
    ],
    publications: Annotated[
        str, typer.Argument(metavar="PUBLICATIONS", help="File of publications.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="MATCHES",
            help="Where matches go: a .parquet or .ndjson file, or - for standard output.",
            show_default=False,
        ),
    ],
    algorithm: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to match: RIS, one of the 48 variants in docs/algorithms.md, such as "
            "RIsPS[HT]{KT}, or auto to have one chosen. All find the same matches.",
        ),
    ] = "RIS",
    cells: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Partitions of the subscriptions, for algorithms that divide them.",
        ),
    ] = 100,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge",
            help="Let every partition report what it finds, and drop repeats afterwards.",
        ),
    ] = False,
    partitions: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Number of Spark tasks; by default it suits the cores."
        ),
    ] = None,
    master: Annotated[
        str,
        typer.Option(metavar="URL", help="Spark master, such as local[4] or spark://host:7077."),
    ] = "local[*]",
    rejects: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where bad records go (side, row, id, reason): a .parquet or .ndjson file.",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Write a row a matched pair, not a row a publication.")
    ] = False,
) -> None:
    """Match a file of publications against a file of subscriptions, on Spark.

    Files are GeoParquet (.parquet, .geoparquet), GeoJSON (.geojson, .json) or GeoJSON sequences
    (.geojsonl, .geojsons, .ndjson). Subscriptions have an id and either a geometry with a
    predicate (default intersects) and an optional filter, or the whole CQL2 expression in
    filter. Bad records are left out and reported; everything else is matched.

    For example:

    - `geocast match areas.geojson quakes.parquet -o matches.parquet`

    - `geocast match areas.geojson quakes.geojsonl -o - --pairs | head`

    - `geocast match subs.parquet pubs.parquet -o matches.ndjson --rejects bad.ndjson`
    """
    from geocast.cli.matching import MatchOptions, run_match

    options = MatchOptions(
        subscriptions,
        publications,
        output,
        algorithm,
        cells,
        merge,
        partitions,
        master,
        rejects,
        pairs,
    )
    run_match(options)
