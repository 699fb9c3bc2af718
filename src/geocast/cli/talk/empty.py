"""Options and arguments that mean nothing when they are empty."""

from __future__ import annotations

from collections.abc import Callable

import typer

__all__ = ["not_empty"]


def not_empty(what: str) -> Callable[[str | None], str | None]:
    """Return a callback that refuses blank text; an option that was not given stays None."""

    def check(value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise typer.BadParameter(f"{what} is empty")
        return value

    return check
