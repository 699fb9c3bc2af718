"""The commands `geocast account add | list | token | remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from geocast.cli.talk.connect import DEFAULT_URL, Data, Json, Token, Url, connect
from geocast.cli.talk.empty import not_empty
from geocast.errors import UnknownNameError

if TYPE_CHECKING:
    from geocast.client import Account

__all__ = ["app"]

_RIGHTS: Final = ("publish", "subscribe", "admin")
Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the account.", callback=not_empty("the name")),
]
Label = Annotated[str, typer.Option(metavar="TEXT", help="What the token is for.")]

app = typer.Typer(help="Accounts and their tokens, for administrators.", no_args_is_help=True)


@app.command()
def add(
    name: Name,
    rights: Annotated[
        str,
        typer.Option(metavar="RIGHTS", help="Some of publish, subscribe, admin, with commas."),
    ] = "publish,subscribe",
    label: Label = "",
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Make an account, and print a token for it."""
    wanted = _rights(rights)
    with connect(url, token, data) as client:
        made = client.add_account(name, wanted)
        issued = client.issue_token(name, label)
    may = ", ".join(sorted(made.rights)) or "do nothing"
    typer.echo(f"{made.name}: may {may}; its token, told only now:", err=True)
    typer.echo(issued)


@app.command(name="list")
def list_accounts(
    json: Json = False, url: Url = DEFAULT_URL, token: Token = None, data: Data = None
) -> None:
    """List all accounts."""
    from geocast.cli.talk.show import show_rows

    with connect(url, token, data) as client:
        show_rows(["name", "rights", "created"], map(_row, client.accounts()), json)


@app.command(name="token")
def issue_token(
    name: Name,
    label: Label = "",
    url: Url = DEFAULT_URL,
    token: Token = None,
    data: Data = None,
) -> None:
    """Print a new token for an account; those it has stay good."""
    with connect(url, token, data) as client:
        issued = client.issue_token(name, label)
    typer.echo(issued)


@app.command()
def remove(name: Name, url: Url = DEFAULT_URL, token: Token = None, data: Data = None) -> None:
    """Remove an account, its tokens and its mailbox, and cancel its subscriptions."""
    with connect(url, token, data) as client:
        client.remove_account(name)
    typer.echo(f"{name}: removed", err=True)


def _rights(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in _RIGHTS:
            raise UnknownNameError("right", name, _RIGHTS)
    return names


def _row(account: Account) -> tuple[dict[str, Any], list[str]]:
    from geocast.cli.talk.show import moment

    name, rights, created = account.name, sorted(account.rights), account.created
    value = {"name": name, "rights": rights, "created": created}
    return value, [name, ", ".join(rights), moment(created) if created else ""]
