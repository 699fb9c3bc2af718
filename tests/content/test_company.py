"""What an event matches does not depend on the events that it is matched with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely

from geocast.language import normalise
from tests import oracle
from tests.content.batches import batch_of, mixed
from tests.language.holding import fulfilled

VALUES: list[Any] = [1, -2, 7, 2.5, -2.0, 2**53, 2**53 + 1, -(2**62), "a", True, None, 0]
CONDITIONS = [
    "9007199254740993 % m = 1",
    "9007199254740993 % m = 0",
    "m + 9007199254740993 = 9007199254740991",
    "m * 9007199254740993 = -18014398509481986",
    "9007199254740993 div m = 1286742750677284",
    "m * m * m * m > 100",
    "m - 1 = 9007199254740992",
    "m / 2 = 1.25",
    "(m + 1) % 2 = 0",
]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("others", [[], [2.5], ["a", 0.5], [2**62], [2**62, 0.5]], ids=str)
def test_whoever_is_in_the_batch(condition: str, others: list[Any]) -> None:
    form, nowhere = normalise(condition), shapely.Point(0, 0)
    for value in VALUES:
        company = [value, *others]
        where = np.full(len(company), nowhere, dtype=object)
        alone = oracle.evaluate(oracle.parse_text(condition), {"m": value, "geometry": nowhere})
        found = fulfilled(form, batch_of({"m": mixed(company)}), where)
        assert found[0] == (alone is True), value
