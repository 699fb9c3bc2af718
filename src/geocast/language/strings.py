r"""What CASEI, ACCENTI and LIKE do to a string."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from geocast.language.tree import FoldName

__all__ = ["FOLDS", "fold_accents", "fold_case", "like_pattern"]

_KEPT_MARKS = "\u3099\u309a"  # they tell Japanese syllables apart (the standard recommends it)


def fold_case(text: str) -> str:
    """Return the text without differences of case, by Unicode's full case folding."""
    return text.casefold()


def fold_accents(text: str) -> str:
    """Return the text without the marks that canonical decomposition separates."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    bare = (c for c in parts if c in _KEPT_MARKS or unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", "".join(bare))


FOLDS: dict[FoldName, Callable[[str], str]] = {
    FoldName.CASEI: fold_case,
    FoldName.ACCENTI: fold_accents,
}


@lru_cache(maxsize=4096)
def like_pattern(pattern: str) -> re.Pattern[str]:
    r"""Compile a LIKE pattern; a final lone backslash stands for itself."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            parts.append(re.escape(next(characters, "\\")))
        elif character == "%":
            parts.append(".*")
        else:
            parts.append("." if character == "_" else re.escape(character))
    return re.compile("".join(parts), re.DOTALL)
