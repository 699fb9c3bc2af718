r"""LIKE on a column of strings."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.language.strings import like_pattern
from geocast.match.content.values import Strings, Truth

__all__ = ["matches"]


def matches(strings: Strings, pattern: str) -> Truth:
    """Match whole strings; unknown where there is no string."""
    if "\\" in pattern:
        return Truth(_match_distinct(strings, pattern), strings.valid)
    found = pc.match_like(strings.data, pattern)
    return Truth(np.asarray(found.fill_null(False)), strings.valid)


def _match_distinct(strings: Strings, pattern: str) -> NDArray[np.bool_]:
    """Match each different string once: Arrow errs on some patterns with a backslash."""
    compiled = like_pattern(pattern)
    encoded = pc.dictionary_encode(strings.data)
    texts = encoded.dictionary.to_pylist()
    hits = np.array([compiled.fullmatch(text) is not None for text in texts] + [False], np.bool_)
    return hits[encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)]
