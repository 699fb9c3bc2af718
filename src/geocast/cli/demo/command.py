"""The command `geocast demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the map picture.")] = Path("out"),
    master: Annotated[str, typer.Option(help="Spark master to match on.")] = "local[2]",
) -> None:
    """Match a month of earthquakes with thousands of subscriptions, and draw what happened.

    Uses data that Geocast ships. Every match is checked again by brute force on the spot.
    """
    from rich.console import Console

    from geocast.cli.demo.show import run

    run(out, master, Console())
