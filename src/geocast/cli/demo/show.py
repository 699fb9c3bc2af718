"""The demonstration from beginning to end: files matched on Spark, then the service, live."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Final

import pyarrow as pa
from rich.console import Console

from geocast.bench.service import ServiceUnderTest
from geocast.cli.demo.check import Notifications, brute_force, from_matches
from geocast.cli.demo.live import replay
from geocast.cli.demo.picture import draw
from geocast.cli.demo.quakes import Quakes, data_file, read_quakes
from geocast.cli.demo.scene import Scene
from geocast.cli.demo.story import World, everybody
from geocast.cli.demo.subscription import Subscription, to_table
from geocast.cli.demo.table import summary
from geocast.errors import GeocastError
from geocast.pipeline.session import spark_session
from geocast.spark import match

__all__ = ["match_on_spark", "run"]

_LIVE_GROUPS: Final = ("cities", "desks")


def run(out: Path, master: str, console: Console) -> None:
    """Run the demonstration; the map picture goes into the folder `out`."""
    with _stage(console, "reading earthquakes and boundaries"):
        quakes, world = read_quakes(), World()
        subscriptions = everybody(world)
    console.print(f"  {len(quakes):,} earthquakes, {len(subscriptions):,} subscriptions")
    with _stage(console, f"matching on Spark, {master}"):
        matches = match_on_spark(to_table(subscriptions), master)
    found = from_matches(matches, quakes, subscriptions)
    with _stage(console, "checking every pair again with plain shapely"):
        expected = brute_force(subscriptions, quakes)
    _report(console, found, expected, tried=len(quakes) * len(subscriptions))
    path = out / "demo-map.png"
    scene = Scene(world, quakes, subscriptions, found)
    with _stage(console, "drawing the map"):
        out.mkdir(parents=True, exist_ok=True)
        draw(scene, path)
    console.print()
    console.print(summary(scene))
    console.print(f"The map: [bold]{path}[/]", soft_wrap=True)
    _run_live(out, [s for s in subscriptions if s.group in _LIVE_GROUPS], quakes, console)


def _run_live(
    out: Path, subscriptions: list[Subscription], quakes: Quakes, console: Console
) -> None:
    """Show the service at work: `geocast up` in a directory of its own."""
    console.print("\n[bold]The same, live[/]: a service of its own, a month in some seconds")
    directory = out / "demo-service"
    shutil.rmtree(directory, ignore_errors=True)
    service = ServiceUnderTest(directory.absolute())
    try:
        with _stage(console, "starting the service (geocast up)"):
            service.start()
            service.wait_ready()
        console.print(f"  see it on the map, signed in: [bold]{_link(service)}[/]", soft_wrap=True)
        console.print(f"  {len(subscriptions)} subscriptions: cities, seas, a fault, the deep")
        heard = replay(service, subscriptions, quakes, console)
        console.print(
            f"  {heard.quakes:,} earthquakes published, [green]{len(heard.pairs):,} notifications "
            f"heard, each once, exactly those of brute force[/]\n"
            f"  delay from publication to listener: half within {heard.delay(0.5):.2f} s, "
            f"99 % within {heard.delay(0.99):.2f} s"
        )
        if os.environ.get("DEMO_KEEP") == "1":
            _keep(service, console)
    finally:
        service.stop()


def _link(service: ServiceUnderTest) -> str:
    """Return an address that signs in as the administrator, once."""
    with service.client() as client:
        return client.issue_link()


def _keep(service: ServiceUnderTest, console: Console) -> None:
    console.print(
        f"\nThe service is still up, its token is in {service.place.admin_token}.\n"
        f"The map, signed in: [bold]{_link(service)}[/]. Ctrl-C stops it.",
        soft_wrap=True,
    )
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def match_on_spark(subscriptions: pa.Table, master: str) -> pa.Table:
    """Return the matches of the shipped earthquakes, in the schema MATCHES."""
    with spark_session(master) as spark:
        publications = spark.read.parquet(str(data_file("earthquakes")))
        return match(publications, subscriptions).toArrow()


def _report(console: Console, found: Notifications, expected: Notifications, tried: int) -> None:
    if not found.agrees(expected):
        raise GeocastError(
            f"the demonstration found {len(found):,} pairs where brute force found"
            f" {len(expected):,}, or others; please report this"
        )
    console.print(
        f"  checked against brute force: [green]{len(found):,} pairs agree[/]"
        f" out of {tried / 1e6:,.0f} million tried"
    )


@contextmanager
def _stage(console: Console, what: str) -> Iterator[None]:
    started = perf_counter()
    with console.status(f"{what} ..."):
        yield
    console.print(f"{what}: [green]done[/] in {perf_counter() - started:.1f} s")
