"""Text that PostgreSQL can keep: it has no place for the character NUL, which JSON may have."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

__all__ = ["EscapedText", "escaped", "plain"]

# Two texts are equal if and only if they are once escaped, so that keys stay keys.
_MARK: Final = "\x1a"
_NUL: Final = "\x00"


def escaped(text: str) -> str:
    """Return a text without NUL, from which `plain` makes the same text again."""
    if _NUL in text or _MARK in text:
        return text.replace(_MARK, _MARK + "1").replace(_NUL, _MARK + "0")
    return text


def plain(text: str) -> str:
    """Return what `escaped` was given."""
    if _MARK in text:
        return text.replace(_MARK + "0", _NUL).replace(_MARK + "1", _MARK)
    return text


class EscapedText(TypeDecorator[str]):
    """Text of any characters, in the order of their numbers, as SQLite has it by itself."""

    impl = Text
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(collation="C")

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape what goes in."""
        return None if value is None else escaped(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Make plain what comes out."""
        return None if value is None else plain(value)
