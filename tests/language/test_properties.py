from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from geocast.errors import LanguageError
from geocast.language import (
    NormalForm,
    constraint_from_json,
    constraint_to_json,
    normalise,
    to_json,
    to_text,
)
from tests import oracle
from tests.language.expressions import BATCH, GEOMETRIES, ROWS, conditions, text_of
from tests.language.holding import fulfilled

SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def outcome(expression: Any) -> NormalForm | tuple[type, str]:
    try:
        return normalise(expression)
    except LanguageError as refused:
        return type(refused), refused.reason


def accepted(condition: Any) -> NormalForm:
    form = outcome(condition)
    assume(isinstance(form, NormalForm))
    assert isinstance(form, NormalForm)
    return form


@SETTINGS
@given(conditions())
def test_text_and_json_agree(condition: Any) -> None:
    assert outcome(text_of(condition)) == outcome(condition)


@SETTINGS
@given(conditions())
def test_the_normal_form_holds_where_the_expression_is_true(condition: Any) -> None:
    holds = fulfilled(accepted(condition), BATCH, GEOMETRIES)
    assert holds.tolist() == [oracle.evaluate(condition, row) is True for row in ROWS]


@SETTINGS
@given(conditions())
def test_round_trips(condition: Any) -> None:
    form = accepted(condition)
    assert normalise(to_text(form)) == form
    assert normalise(to_json(form)) == form
    for item in form.filters:
        for constraint in item.attributes:
            assert constraint_from_json(constraint_to_json(constraint)) == constraint


@SETTINGS
@given(conditions())
def test_true_false_and_null_are_all_there_is(condition: Any) -> None:
    negation, null = ({"op": op, "args": [condition]} for op in ("not", "isNull"))
    cases = [fulfilled(accepted(c), BATCH, GEOMETRIES) for c in (condition, negation, null)]
    assert np.sum(cases, axis=0).tolist() == [1] * len(ROWS)


@settings(max_examples=500, deadline=None)
@given(st.text("abc019.'\"()<>=+-*/%^, \\!ANDORNTIS\n_é", max_size=30))
def test_any_text_is_read_or_refused_with_its_position(text: str) -> None:
    try:
        normalise(text)
    except LanguageError as refused:
        where = refused.position
        assert where is not None
        assert 0 <= where <= len(text)
