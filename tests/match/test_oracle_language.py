"""The product's reading of CQL2 against that of the oracle's own parser."""

from __future__ import annotations

import numpy as np
import pytest

from geocast.language import normalise, to_json, to_text
from tests import oracle
from tests.expressions import expression


@pytest.mark.parametrize("seed", range(5))
def test_text_and_the_oracles_json_of_it_have_one_normal_form(seed: int) -> None:
    rng = np.random.default_rng([6, seed])
    for _ in range(100):
        text = f"n > 0 AND ({expression(rng)})"
        assert normalise(oracle.parse_text(text)) == normalise(text), text


@pytest.mark.parametrize("seed", range(5))
def test_a_normal_form_can_be_written_and_read_again(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    for _ in range(100):
        text = expression(rng, 2)
        form = normalise(text)
        assert normalise(to_text(form)) == form, text
        assert normalise(to_json(form)) == form, text
