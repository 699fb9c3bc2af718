"""`geocast`: the commands, and what the process says and returns when one of them fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from geocast.cli.bench import app as bench_app
from geocast.cli.demo import demo
from geocast.cli.match import match
from geocast.cli.package import package
from geocast.cli.service import deliver, gateway, up
from geocast.cli.service import run as run_service
from geocast.cli.talk import (
    account_app,
    link,
    listen,
    publish,
    status,
    subscribe,
    subscriptions,
    unpublish,
    unsubscribe,
)
from geocast.errors import GeocastError, InputError, LanguageError

__all__ = ["app", "main", "run"]

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="geocast",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(match)
app.command()(up)
app.command()(publish)
app.command()(unpublish)
app.command()(subscribe)
app.command()(unsubscribe)
app.command()(subscriptions)
app.command()(listen)
app.command()(status)
app.command()(link)
app.add_typer(account_app, name="account")
app.command()(demo)
app.add_typer(bench_app, name="bench")
app.command(name="run")(run_service)
app.command()(gateway)
app.command()(deliver)
app.command()(package)


@app.callback(invoke_without_command=True)
def geocast(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Publish/subscribe by place: every event reaches exactly the subscribers it concerns."""
    if show_version:
        typer.echo(f"geocast {version('geocast')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line of this process and exit with its status."""
    status = run(sys.argv[1:])
    _flush()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status: 0, or 2 for input that cannot be used.

    Whatever goes wrong is one line on standard error. A failure that is not the input's, such
    as a full disk, gives 1, an interruption 130.
    """
    try:
        status = app(args=list(arguments), prog_name="geocast", standalone_mode=False) or 0
        return _complain("interrupted", INTERRUPTED) if status == INTERRUPTED else status
    except typer.TyperException as error:
        return _misused(error)
    except (InputError, LanguageError) as error:
        return _complain(str(error), BAD_INPUT)
    except GeocastError as error:
        return _complain(str(error), FAILED)
    except BrokenPipeError:
        return FAILED
    except OSError as error:
        return _complain(str(error), FAILED)
    except typer.Abort:
        return _complain("interrupted", INTERRUPTED)


def _misused(error: typer.TyperException) -> int:
    """Say what is wrong with a command line; where it asked for help, that was shown already."""
    message = error.format_message()
    if not message:
        return error.exit_code
    context: typer.Context | None = getattr(error, "ctx", None)
    command = "geocast" if context is None else context.command_path
    return _complain(f"{message} (see {command} --help)", error.exit_code)


def _complain(message: str, status: int) -> int:
    line = " ".join(message.split())
    print(f"geocast: {line}", file=sys.stderr)
    return status


def _flush() -> None:
    """Flush standard output; where its reader has left, let Python's own last flush succeed."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
