from __future__ import annotations

import pytest

from geocast.errors import UnknownNameError
from geocast.match.index import INDEXES
from geocast.pipeline import algorithm_names, parse_name
from geocast.pipeline.registry import INDEX_CODES
from geocast.pipeline.ris import Ris


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("RIS", "cells"),
        ("ris", "cells"),
        (" RIS ", "cells"),
        ("RIS[HT]", "hprtree"),
        ("RIS[ST]", "strtree"),
        ("RIS[QT]", "quadtree"),
        ("ris[mg]", "multigrid"),
    ],
)
def test_a_name_gives_a_family_and_an_index(name: str, index: str) -> None:
    assert parse_name(name) == (Ris, index)


@pytest.mark.parametrize("name", ["", "SPS", "RIS[]", "RIS[XX]", "RIS[HT", "RISHT", "RIS[HT]{KT}"])
def test_an_unknown_name_is_refused_with_the_list_of_names(name: str) -> None:
    with pytest.raises(UnknownNameError) as refusal:
        parse_name(name)
    message = str(refusal.value)
    assert "unknown algorithm" in message
    assert all(known in message for known in algorithm_names())
    assert "\n" not in message


def test_every_name_that_is_listed_is_known() -> None:
    assert [parse_name(name) for name in algorithm_names()]


def test_every_code_names_an_index_that_exists() -> None:
    assert set(INDEX_CODES.values()) <= set(INDEXES)
