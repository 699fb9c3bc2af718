"""`geocast up | run | gateway | deliver`: the arguments of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from geocast.operate import Place, Settings

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

SparkMaster = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The Spark master to match on, such as spark://HOST:7077; that of spark-submit where "
        "it starts this, else local[2,4].",
        show_default=False,
    ),
]

Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        metavar="NAME=VALUE",
        help="A setting of Spark, such as spark.executor.memory=4g; may be repeated.",
        show_default=False,
    ),
]

Repository = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The database: postgresql://USER@HOST/DATABASE; a file in DIR without it.",
        show_default=False,
    ),
]

LogUrl = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="URL",
        help="Kafka for publications and matches: kafka://HOST:PORT; files in DIR without it.",
        show_default=False,
    ),
]

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
    repository: Repository = None,
    log: LogUrl = None,
) -> None:
    """Run the whole service on this machine: gateway, matching on Spark, delivery.

    Nothing else needs to be installed or running. Everything is kept in one directory, and goes
    on where it stopped when the service is started there again. The first start makes a token
    for the account `admin` and says where it is. Ctrl-C, or SIGTERM, delivers what is under way
    and stops.

    Settings are environment variables such as GEOCAST_MAX_BODY; docs/running.md lists them.
    """
    from geocast.cli.service.supervisor import run_up
    from geocast.operate import Place

    settings = _settings(repository, host=host, port=port, algorithm=algorithm, log=log)
    run_up(Place.of(data.absolute(), settings), settings, master)


def run(
    data: Data = DEFAULT_DATA,
    master: SparkMaster = None,
    conf: Conf = None,
    algorithm: Algorithm = None,
    repository: Repository = None,
    log: LogUrl = None,
) -> None:
    """Run the matching alone: the process that `up` starts for it.

    On a cluster the log must be Kafka. Workers need nothing of DIR: each machine fetches the
    subscriptions from this process, once. docs/cluster.md says more.
    """
    from geocast.operate import stop_on_signals
    from geocast.pipeline.service import run_pipeline
    from geocast.pipeline.session import submitted_master

    settings = _settings(repository, algorithm=algorithm, log=log)
    spark = _spark_settings(conf or [])
    place = _begin("pipeline", data, settings)
    on = master or submitted_master() or DEFAULT_MASTER
    run_pipeline(place, settings, on, stop_on_signals(), conf=spark)


def gateway(
    data: Data = DEFAULT_DATA,
    host: Host = None,
    port: Port = None,
    repository: Repository = None,
    log: LogUrl = None,
) -> None:
    """Run the gateway alone: the process that `up` starts for HTTP and WebSocket.

    Several may run, on one machine or many, with the same repository and log. The first that
    finds no account makes the account `admin`, and its token in DIR/admin-token.
    """
    from geocast.cli.service.first_token import ensure_admin
    from geocast.gateway.server import run_gateway

    settings = _settings(repository, host=host, port=port, log=log)
    place = _begin("gateway", data, settings)
    if ensure_admin(place, everywhere=False):
        typer.echo(f"the administrator's token is in {place.admin_token}", err=True)
    run_gateway(place, settings)


def deliver(data: Data = DEFAULT_DATA, repository: Repository = None, log: LogUrl = None) -> None:
    """Run the delivery alone: the process that `up` starts for mailboxes and webhooks."""
    from geocast.deliver.service import run_deliver
    from geocast.operate import stop_on_signals

    settings = _settings(repository, log=log)
    place = _begin("deliver", data, settings)
    run_deliver(place, settings, stop_on_signals())


def _spark_settings(texts: list[str]) -> dict[str, str]:
    from geocast.errors import InputError

    for text in texts:
        if not text.startswith("spark.") or "=" not in text:
            raise InputError(f"--conf {text!r} is not like spark.executor.memory=4g")
    return dict(text.split("=", 1) for text in texts)


def _settings(repository: str | None, **given: Any) -> Settings:
    """Return the settings; a repository on the command line must not have a password."""
    from geocast.operate import Settings
    from geocast.repository.address import check_no_password

    if repository is not None:
        check_no_password(repository)
    return Settings.of(repository=repository, **given)


def _begin(process: str, data: Path, settings: Settings) -> Place:
    """Prepare this process for its part; journal lines go to standard error."""
    from geocast.operate import Place, open_journal, share_metrics

    place = Place.of(data.absolute(), settings)
    place.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    open_journal(process)
    share_metrics(place.metrics)
    return place
