"""Where in the input something stands, and how to refuse it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from geocast.errors import FilterLimitError, LanguageError
from geocast.language.tree import Node

__all__ = ["MAX_DEPTH", "Located", "Where", "refuse", "refuse_depth"]

MAX_DEPTH = 100
"""How deep an expression may be nested, so that no input can exhaust the stack."""

Where = int | str
"""An offset into the text, or a path into the JSON."""


@dataclass(frozen=True, slots=True)
class Located:
    """A node with the place where it began and the depth of its tree.

    `grouped` says that it stood in parentheses, which makes an array of one element where an
    array is asked for.
    """

    node: Node
    where: Where
    depth: int = 0
    grouped: bool = False


def refuse(error: type[LanguageError], reason: str, where: Where) -> NoReturn:
    """Raise `error` with the place in the form that fits the input."""
    if isinstance(where, int):
        raise error(reason, position=where)
    raise error(reason, path=where)


def refuse_depth(where: Where) -> NoReturn:
    """Raise the error for an expression that is nested too deep."""
    refuse(FilterLimitError, f"nested more than {MAX_DEPTH} levels deep", where)
