from __future__ import annotations

import re

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from geocast.language import AttributeConstraint
from geocast.language.strings import like_pattern
from geocast.language.tree import Like, Property
from geocast.match.content import evaluate

LETTERS = "ab%_\\.*\n é("


@settings(max_examples=300, deadline=None)
@given(st.text(LETTERS, max_size=6), st.lists(st.text(LETTERS, max_size=6), min_size=1))
def test_columns_and_constants_match_alike(pattern: str, texts: list[str]) -> None:
    constraint = AttributeConstraint(Like(Property("a"), pattern))
    found = evaluate(constraint, pa.record_batch({"a": texts})).to_pylist()
    assert found == [like_pattern(pattern).fullmatch(text) is not None for text in texts]


@given(st.text(LETTERS, max_size=8))
def test_an_escaped_text_matches_only_itself(text: str) -> None:
    pattern = like_pattern(re.sub(r"([%_\\])", r"\\\1", text))
    assert pattern.fullmatch(text)
    assert not pattern.fullmatch(text + "a")


def test_wildcards() -> None:
    assert like_pattern("%").fullmatch("")
    assert like_pattern("a%c").fullmatch("a\nc")
    assert not like_pattern("a_c").fullmatch("ac")
    assert like_pattern("a\\").fullmatch("a\\")
