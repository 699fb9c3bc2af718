"""The words of a CQL2 text, each with its position."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from geocast.errors import FilterSyntaxError
from geocast.language.where import MAX_DEPTH, refuse, refuse_depth

__all__ = ["KEYWORDS", "NAME", "Token", "tokenize"]

KEYWORDS = frozenset(
    {"AND", "OR", "NOT", "LIKE", "BETWEEN", "IN", "IS", "NULL", "TRUE", "FALSE", "DIV"}
)
"""Words that are no property names unless they are quoted."""

_START = (
    ":_A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1ffe\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME = re.compile(f"[{_START}][{_START}.0-9\u0300-\u036f\u203f\u2040]*")
"""A property name that needs no quotes."""

_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<geometry>(?i:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)
        (?i:\s*(?:ZM|Z|M))?\s*(?:(?i:EMPTY)\b|\())
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>{NAME.pattern})
  | (?P<string>'(?:[^'\\]|''|\\.)*')
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<symbol><>|<=|>=|[-=<>+*/%^(),])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_PARENTHESIS = re.compile(r"[()]")
_ESCAPE = re.compile(r"''|\\([abtnvfr'\\])", re.DOTALL)
_CONTROLS = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word: `symbol` is what the grammar looks at, `value` what the user meant.

    `symbol` is the upper-case keyword, the operator, or one of "name", "string", "number",
    "geometry" and "end"; `raw` is the word as it stands in the text. A geometry literal is one
    word however long it is.
    """

    symbol: str
    value: str
    raw: str
    position: int


def tokenize(text: str) -> list[Token]:
    """Split a text into words, with an "end" behind the last."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            _refuse_character(text, position)
        end = found.end()
        if found.lastgroup == "geometry" and text[end - 1] == "(":
            end = _closing(text, position, end)
        if found.lastgroup != "space":
            tokens.append(_token(str(found.lastgroup), text[position:end], position))
        position = end
    tokens.append(Token("end", "", "", len(text)))
    return tokens


def _closing(text: str, start: int, inside: int) -> int:
    """Return the offset behind the parenthesis that closes the one just before `inside`."""
    level = 1
    for parenthesis in _PARENTHESIS.finditer(text, inside):
        level += 1 if parenthesis.group() == "(" else -1
        if level == 0:
            return parenthesis.end()
        if level > MAX_DEPTH:
            refuse_depth(parenthesis.start())
    return refuse(FilterSyntaxError, "the geometry is never closed by ')'", start)


def _token(group: str, raw: str, position: int) -> Token:
    if group == "string":
        return Token("string", _ESCAPE.sub(_unescaped, raw[1:-1]), raw, position)
    if group == "quoted":
        return Token("name", raw[1:-1].replace('""', '"'), raw, position)
    if group == "name":
        upper = raw.upper()
        return Token(upper if upper in KEYWORDS else "name", raw, raw, position)
    return Token(group if group in ("number", "geometry") else raw, raw, raw, position)


def _unescaped(found: re.Match[str]) -> str:
    character = found.group(1)
    return _CONTROLS.get(character, character) if character else "'"


def _refuse_character(text: str, position: int) -> NoReturn:
    character = text[position]
    reason = f"unexpected character {character!r}"
    if character in "'\"":
        reason = f"the quote {character} is never closed"
    elif text.startswith("!=", position):
        reason = "'!=' is not CQL2; write '<>'"
    refuse(FilterSyntaxError, reason, position)
