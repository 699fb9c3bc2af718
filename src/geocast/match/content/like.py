r"""LIKE on a column of strings."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from geocast.match.content.values import Strings, Truth

__all__ = ["matches"]


def matches(strings: Strings, pattern: str) -> Truth:
    """Match whole strings; unknown where there is no string."""
    found = pc.match_like(strings.data, _canonical(pattern))
    return Truth(np.asarray(found.fill_null(False)), strings.valid)


def _canonical(pattern: str) -> str:
    r"""Escape only what needs it: Arrow refuses a lone backslash at the end."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            literal = next(characters, "\\")
            parts.append(f"\\{literal}" if literal in "%_\\" else literal)
        else:
            parts.append(character)
    return "".join(parts)
