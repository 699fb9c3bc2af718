"""CQL2 text to tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["TextError", "Token", "tokens"]

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_START = (
    ":_A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1ffe\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_PART = _START + ".0-9\u0300-\u036f\u203f-\u2040"
_RULES = re.compile(
    rf"""(?P<space>[{_SPACE}]+)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<string>'(?:''|\\'|[^'])*')
    |(?P<quoted>"[{_START}][{_PART}]*")
    |(?P<name>[{_START}][{_PART}]*)
    |(?P<symbol><>|<=|>=|[<>=+\-*/%^(),])""",
    re.VERBOSE,
)
_CONTROLS = {
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "'": "'",
}


class TextError(ValueError):
    """The text is not CQL2."""


@dataclass(frozen=True)
class Token:
    """A piece of text; `kind` is number, string, quoted, name, symbol or end."""

    kind: str
    text: str
    position: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "name" and self.text.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind == "symbol" and self.text in symbols


def tokens(text: str) -> list[Token]:
    """Split a text; strings arrive without quotes and with their escapes resolved."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        hit = _RULES.match(text, position)
        if hit is None or hit.lastgroup is None:
            raise TextError(f"unexpected {text[position]!r} at {position}")
        if hit.lastgroup != "space":
            found.append(Token(hit.lastgroup, _plain(hit.lastgroup, hit.group()), position))
        position = hit.end()
    return [*found, Token("end", "", position)]


def _plain(kind: str, text: str) -> str:
    if kind == "quoted":
        return text[1:-1]
    if kind == "string":
        return _unescaped(text[1:-1])
    return text


def _unescaped(text: str) -> str:
    """Resolve '' and the backslash sequences of the standard; any other backslash stays.

    A backslash before `%`, `_` or another backslash is left for LIKE, whose escape it is.
    """
    return re.sub(
        r"''|\\([abtnvfr'])", lambda m: _CONTROLS[m.group(1)] if m.group(1) else "'", text
    )
