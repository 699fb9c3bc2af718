"""What the commands of `geocast bench` share: where data are, progress, and where tables go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from geocast.cli.progress import open_steps

__all__ = ["DISAGREES", "DataOption", "announced", "names_in", "table_console"]

DISAGREES: Final = 1
"""The exit status where answers differ or something is wrong."""

_FILE_WIDTH: Final = 120

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the data files; else $GEOCAST_DATA.", metavar="DIR"),
]


def names_in(text: str) -> list[str]:
    """Return the names in a list that is separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def announced(total: int, title: str) -> Iterator[Callable[[str], None]]:
    """Show a bar with what runs now; each announcement begins a step."""
    begun = 0
    with open_steps() as steps, steps.step(title, total) as step:

        def announce(what: str) -> None:
            nonlocal begun
            step.update(begun, what)
            begun += 1

        yield announce


def table_console() -> Console:
    """Return a console for tables, which is wide where standard output is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=_FILE_WIDTH)
