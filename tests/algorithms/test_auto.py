from __future__ import annotations

import re

import pyarrow as pa
import pytest

from geocast.errors import UnknownNameError
from geocast.pipeline import algorithm_names, check_name, choose
from tests.match.comparison import subscription_table
from tests.match.real_data import sides_of

_, AREAS, PREDICATES = sides_of("thesis", 300, 1)
SUBSCRIPTIONS = subscription_table(AREAS, PREDICATES)


def test_what_fits_is_not_divided() -> None:
    choice = choose(SUBSCRIPTIONS, memory=10**12)
    assert choice.name in ("RIS", "RIS[HT]")
    assert choice.why.startswith(f"{choice.name}: the index of 300 subscriptions takes about ")
    assert "of 1000.0 GB at hand" in choice.why
    assert "\n" not in choice.why


def test_what_does_not_fit_is_divided() -> None:
    choice = choose(SUBSCRIPTIONS, memory=1000)
    assert choice.name == "RIsPS[HT]{KT}"
    assert "more than the 0 MB at hand" in choice.why


@pytest.mark.parametrize(
    "subscriptions",
    [
        pa.table({"id": ["a"], "filter": ["mag > 5"]}),
        SUBSCRIPTIONS.slice(0, 0),
        pa.table({"id": ["a"], "geometry": pa.array([b"nonsense"], pa.binary())}),
    ],
)
def test_anything_can_be_chosen_for(subscriptions: pa.Table) -> None:
    choice = choose(subscriptions, memory=10**9)
    assert choice.name in algorithm_names()
    assert re.search(r"; (about|[1-9]\d*\.\d times) as fast as RIS.* in a trial$", choice.why)


def test_auto_is_a_name() -> None:
    check_name(" Auto ")
    check_name("sPS{QT}")
    with pytest.raises(UnknownNameError, match="auto"):
        check_name("automatic")
