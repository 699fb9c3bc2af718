"""`geocast up | run | gateway | deliver`: the arguments of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from geocast.operate import Place

__all__ = ["DEFAULT_DATA", "DEFAULT_MASTER", "deliver", "gateway", "run", "up"]

DEFAULT_DATA = Path("geocast-data")

Data = Annotated[
    Path,
    typer.Option(
        "--data", metavar="DIR", envvar="GEOCAST_HOME", help="Where the service keeps everything."
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The address to listen on; without it 127.0.0.1, which other machines cannot reach.",
        show_default=False,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="The port to listen on; 8400.", min=1, max=65535, show_default=False
    ),
]
Master = Annotated[str, typer.Option(metavar="URL", help="The Spark master to match on.")]

Algorithm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How to match: RIS, one of the 48 variants in docs/algorithms.md, or auto.",
        show_default=False,
    ),
]

# Two cores, and a task that fails, as when its worker is killed, is tried again.
DEFAULT_MASTER = "local[2,4]"


def up(
    data: Data = DEFAULT_DATA,
    host: Host = None,
    port: Port = None,
    master: Master = DEFAULT_MASTER,
    algorithm: Algorithm = None,
) -> None:
    """Run the whole service on this machine: gateway, matching on Spark, delivery.

    Nothing else needs to be installed or running. Everything is kept in one directory, and goes
    on where it stopped when the service is started there again. The first start makes a token
    for the account `admin` and says where it is. Ctrl-C, or SIGTERM, delivers what is under way
    and stops.

    Settings are environment variables such as GEOCAST_MAX_BODY; docs/operation.md lists them.
    """
    from geocast.cli.service.supervisor import run_up
    from geocast.operate import Place, Settings

    settings = Settings.of(host=host, port=port, algorithm=algorithm)
    run_up(Place(data.absolute()), settings, master)


def run(
    data: Data = DEFAULT_DATA, master: Master = DEFAULT_MASTER, algorithm: Algorithm = None
) -> None:
    """Run the matching alone: the process that `up` starts for it."""
    from geocast.operate import Settings, stop_on_signals
    from geocast.pipeline.service import run_pipeline

    place = _begin("pipeline", data)
    run_pipeline(place, Settings.of(algorithm=algorithm), master, stop_on_signals())


def gateway(data: Data = DEFAULT_DATA, host: Host = None, port: Port = None) -> None:
    """Run the gateway alone: the process that `up` starts for HTTP and WebSocket."""
    from geocast.gateway.server import run_gateway
    from geocast.operate import Settings

    place = _begin("gateway", data)
    run_gateway(place, Settings.of(host=host, port=port))


def deliver(data: Data = DEFAULT_DATA) -> None:
    """Run the delivery alone: the process that `up` starts for mailboxes and webhooks."""
    from geocast.deliver.service import run_deliver
    from geocast.operate import Settings, stop_on_signals

    place = _begin("deliver", data)
    run_deliver(place, Settings.of(), stop_on_signals())


def _begin(process: str, data: Path) -> Place:
    """Prepare this process for its part; journal lines go to standard error."""
    from geocast.operate import Place, open_journal, share_metrics

    place = Place(data.absolute())
    place.root.mkdir(parents=True, exist_ok=True)
    open_journal(process)
    share_metrics(place.metrics)
    return place
