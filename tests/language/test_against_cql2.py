"""The `cql2` package as an independent reader of the same texts."""

from __future__ import annotations

from typing import Any

import cql2
import pytest

from geocast.language import normalise
from tests.language.test_cases import TABLE

GAPS = (
    r"\'s pit",  # backslash does not escape a quote
    "A_CONTAINS(tags, ())",  # no empty arrays
    "(depth / 5)",  # no arrays of one expression
    "-7.7e1",  # no exponents in geometries
)
TEXTS = [case["text"] for case in TABLE if not any(gap in case["text"] for gap in GAPS)]


def read(text: str) -> Any:
    return cql2.parse_text(text).to_json()


@pytest.mark.parametrize("text", TEXTS)
def test_both_readers_understand_the_same(text: str) -> None:
    tree = read(text)
    assert normalise(tree if isinstance(tree, dict) else text) == normalise(text)
