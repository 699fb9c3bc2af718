from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.model import (
    check_account_name,
    from_rfc3339,
    match_id,
    publication_key,
    split_key,
    to_rfc3339,
)


@given(st.integers(-(10**15), 10**16))
def test_a_time_survives_its_text(microseconds: int) -> None:
    assert from_rfc3339(to_rfc3339(microseconds)) == microseconds


def test_a_time_needs_a_zone() -> None:
    assert to_rfc3339(1) == "1970-01-01T00:00:00.000001Z"
    with pytest.raises(ValueError, match="no time zone"):
        from_rfc3339("2026-11-16T05:23:11")


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a/b", "a" * 64, "ä"])
def test_what_cannot_be_an_account(name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of an account"):
        check_account_name(name)


@given(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,62}", fullmatch=True), st.text())
def test_a_key_is_publisher_and_id(publisher: str, identifier: str) -> None:
    check_account_name(publisher)
    assert split_key(publication_key(publisher, identifier)) == (publisher, identifier)


def test_match_ids_differ_in_every_part() -> None:
    places = [("d", 0, 1, 2, 3), ("e", 0, 1, 2, 3), ("d", 1, 1, 2, 3), ("d", 0, 2, 2, 3)]
    places += [("d", 0, 1, 3, 3), ("d", 0, 1, 2, 4), ("d", 0, 12, 2, 3), ("d", 0, 1, 22, 3)]
    assert len({match_id(*place) for place in places}) == len(places)
