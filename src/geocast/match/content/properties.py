"""The properties that expressions use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from geocast.language import Expression
from geocast.language.tree import Property

__all__ = ["property_names"]


def property_names(expressions: Iterable[Expression]) -> frozenset[str]:
    """Return the names of all properties in the expressions."""
    return frozenset(name for expression in expressions for name in _names(expression))


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, Property):
        yield node.name
    elif isinstance(node, tuple):
        for item in node:
            yield from _names(item)
    elif is_dataclass(node):
        for part in fields(node):
            yield from _names(getattr(node, part.name))
