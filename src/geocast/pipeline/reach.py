"""How workers get at what a stream works on: in place, or from afar.

Workers on the driver's machine use its data directory. Those of a cluster fetch snapshots from the
driver, once a machine, and read and write topics of Kafka.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pyspark import SparkContext

from geocast.errors import InputError
from geocast.log import LogPlace, matches, publications
from geocast.operate import Place, Settings
from geocast.pipeline.session import is_local
from geocast.snapshot import SnapshotPlace, SnapshotServer

__all__ = ["Reach", "check_reachable", "executor_environment", "reach"]

_SECRET: Final = "GEOCAST_KAFKA_PASSWORD"
_FOR_WORKERS: Final = ("GEOCAST_KAFKA_", "GEOCAST_NODE_FOLDER")


@dataclass(frozen=True, slots=True)
class Reach:
    """Where workers find snapshots and logs; sent to them with their tasks."""

    snapshots: SnapshotPlace
    publications: LogPlace
    matches: LogPlace

    @classmethod
    def in_place(cls, place: Place, settings: Settings) -> Reach:
        """Return it for workers that see the data directory."""
        logs = publications(place, settings), matches(place, settings)
        return cls(SnapshotPlace(place.snapshots), *logs)


def check_reachable(master: str, settings: Settings) -> None:
    """Raise InputError where the workers of that master could not read the log."""
    if not is_local(master) and not settings.log:
        raise InputError(
            f"workers of {master} cannot read a log in files of this machine: name a Kafka, "
            "such as --log kafka://HOST:9092"
        )


def executor_environment() -> dict[str, str]:
    """Return the Spark settings by which workers elsewhere get this process's settings of Kafka.

    Not the password: Spark shows its settings to whoever may see its pages. Workers have that from
    their own environment, or a file that each machine has.
    """
    own = {name: value for name, value in os.environ.items() if name.startswith(_FOR_WORKERS)}
    own.pop(_SECRET, None)
    return {f"spark.executorEnv.{name}": value for name, value in own.items()}


@contextmanager
def reach(
    context: SparkContext, place: Place, settings: Settings, deployment: str
) -> Iterator[Reach]:
    """Give what workers have to know, and serve them for the length of the block."""
    near = Reach.in_place(place, settings)
    if is_local(context.master):
        yield near
        return
    conf = context.getConf()
    host = conf.get("spark.driver.host", "")
    listening = conf.get("spark.driver.bindAddress", host)
    here = Path(deployment)
    with SnapshotServer(place.snapshots, listening, settings.snapshot_port) as server:
        named = f"[{host}]" if ":" in host else host
        yield Reach(
            SnapshotPlace(here / "snapshots", f"http://{named}:{server.port}", server.token),
            replace(near.publications, directory=here / near.publications.directory.name),
            replace(near.matches, directory=here / near.matches.directory.name),
        )
