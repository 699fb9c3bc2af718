from __future__ import annotations

import pyarrow as pa
import pytest

from geocast.errors import InputError, UnknownNameError
from geocast.match.index import INDEXES
from geocast.match.partition import METHODS
from geocast.pipeline import (
    REPRESENTATIVES,
    Variant,
    algorithm_names,
    make_algorithm,
    parse_name,
    variant_names,
)
from geocast.pipeline.variants import INDEX_CODES, METHOD_CODES


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("RIS", Variant("RIS")),
        (" ris ", Variant("RIS")),
        ("RIS[HT]", Variant("RIS", "HT")),
        ("sPS{QT}", Variant("sPS", None, "QT")),
        ("SPIS[qt]{kt}", Variant("sPIS", "QT", "KT")),
        ("RIsPS[ST]{VO}", Variant("RIsPS", "ST", "VO")),
        ("rihps[ht]", Variant("RIhPS", "HT")),
    ],
)
def test_a_name_gives_a_family_an_index_and_a_partitioning(name: str, variant: Variant) -> None:
    assert parse_name(name) == variant


@pytest.mark.parametrize(
    "name",
    ["", "SPS", "RIS[]", "RIS[XX]", "RIS[MG]", "RIS[HT", "RISHT", "RIS[HT]{KT}", "sPS[HT]{QT}",
     "sPIS{QT}", "RIsPS[HT]", "RIhPS[HT]{QT}", "sPS{XX}", "CEN[ST]"],
)  # fmt: skip
def test_an_unknown_name_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(UnknownNameError) as refusal:
        parse_name(name)
    message = str(refusal.value)
    assert "unknown algorithm" in message
    assert message.endswith(
        "; there are: RIS, RIS[HT|ST|QT], sPS{QT|KT|ST|HI|VO|EG}, "
        "sPIS[HT|ST|QT]{QT|KT|ST|HI|VO|EG}, RIsPS[HT|ST|QT]{QT|KT|ST|HI|VO|EG}, "
        "RIhPS[HT|ST|QT], auto"
    )


def test_there_are_48_variants_and_the_default() -> None:
    names = variant_names()
    assert len(set(names)) == 48
    assert algorithm_names() == ["RIS", *names]
    assert all(parse_name(name).name == name for name in algorithm_names())
    assert set(REPRESENTATIVES) <= set(names)


def test_every_code_names_something_that_exists() -> None:
    assert set(INDEX_CODES.values()) <= set(INDEXES)
    assert set(METHOD_CODES) == set(METHODS)
    assert {parse_name(name).method for name in variant_names()} == {None, *METHODS}


@pytest.mark.parametrize("name", ["RIS", "sPS{QT}", "RIhPS[HT]", "auto"])
@pytest.mark.parametrize(
    ("cells", "complaint"), [(0, "at least 1, not 0"), (10**9, "at most 10,000, not 1,000,000,000")]
)
def test_cells_are_some_and_not_too_many(name: str, cells: int, complaint: str) -> None:
    table = pa.table({"id": ["s"], "filter": ["mag > 1"]})
    with pytest.raises(InputError, match=f"cells must be {complaint}"):
        make_algorithm(name, table, cells=cells)
