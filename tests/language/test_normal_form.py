from __future__ import annotations

import pytest
import shapely

from geocast.errors import FilterSyntaxError
from geocast.language import (
    AttributeConstraint,
    Filter,
    NormalForm,
    SpatialConstraint,
    constraint_from_json,
    constraint_to_json,
    normalise,
    to_json,
    to_text,
)
from geocast.language.tree import Comparison, Number, Property
from geocast.model import Predicate

POINT = shapely.to_wkb(shapely.Point(1, 2), byte_order=1)


def spatial(text: str) -> SpatialConstraint:
    (item,) = normalise(text).filters
    (constraint,) = item.spatial
    return constraint


def test_a_filter_is_a_conjunction_of_constraints() -> None:
    form = normalise("S_WITHIN(geometry, POINT(1 2)) AND a > 1 AND S_TOUCHES(geometry, POINT(1 2))")
    attribute = AttributeConstraint(Comparison(">", Property("a"), Number(1)), False)
    places = (
        SpatialConstraint(Predicate.TOUCHES, POINT, False),
        SpatialConstraint(Predicate.WITHIN, POINT, False),
    )
    assert form == NormalForm((Filter(places, (attribute,)),))


@pytest.mark.parametrize(
    ("text", "predicate", "negated"),
    [
        ("S_WITHIN(geometry, POINT(1 2))", Predicate.WITHIN, False),
        ("S_WITHIN(POINT(1 2), geometry)", Predicate.CONTAINS, False),
        ("S_COVERS(POINT(1 2), geometry)", Predicate.COVEREDBY, False),
        ("NOT S_WITHIN(geometry, POINT(1 2))", Predicate.WITHIN, True),
        ("NOT S_WITHIN(POINT(1 2), geometry)", Predicate.CONTAINS, True),
        ("NOT S_INTERSECTS(geometry, POINT(1 2))", Predicate.DISJOINT, False),
        ("NOT S_DISJOINT(geometry, POINT(1 2))", Predicate.INTERSECTS, False),
        ("NOT NOT S_DISJOINT(geometry, POINT(1 2))", Predicate.DISJOINT, False),
    ],
)
def test_spatial_constraints_read_publication_first(
    text: str, predicate: Predicate, negated: bool
) -> None:
    assert spatial(text) == SpatialConstraint(predicate, POINT, negated)


@pytest.mark.parametrize("predicate", Predicate)
def test_all_ten_predicates_by_name(predicate: Predicate) -> None:
    assert spatial(f"s_{predicate.label}(geometry, POINT(1 2))").predicate is predicate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1 AND b = 2", "b = 2 AND a = 1 AND b = 2"),
        ("a = 1 OR b = 2", "b = 2 OR a = 1 OR b = 2"),
        ("2 < a", "a > 2"),
        ("a <> 1", "NOT a = 1"),
        ("a", "a = TRUE"),
        ("a IN (2, 1, 2)", "a IN (1.0, 2)"),
        ("a IN (1)", "a = 1"),
        ("a = 1.0", "a = 1"),
        ("a = 1e2", "a = 100"),
        ("a = -0.0", "a = 0"),
        ("a > 1 + 2 * 3", "a > 7"),
        ("NOT (a = 1 AND b = 2)", "NOT a = 1 OR NOT b = 2"),
        ("NOT (a = 1 OR b = 2)", "NOT a = 1 AND NOT b = 2"),
        ("a = 1 AND (b = 2 OR c = 3)", "a = 1 AND b = 2 OR a = 1 AND c = 3"),
        ("a = 1 OR a = 1 AND b = 2", "a = 1"),
        ("a = 1 AND TRUE", "a = 1 OR FALSE"),
        ("t > TIMESTAMP('2020-01-01T01:00:00+01:00')", "t > TIMESTAMP('2020-01-01 00:00:00.0')"),
        ("CASEI(a) = CASEI('ÄX')", "CASEI(a) = 'äx'"),
        ("S_WITHIN(geometry, POINT(-0.0 1))", "S_WITHIN(geometry, POINT Z (0 1 9))"),
        ("S_WITHIN(geometry, BBOX(170, 0, 180, 1))", "S_WITHIN(geometry, BBOX(170,0,-180,1))"),
    ],
)
def test_equal_expressions_have_equal_normal_forms(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    "text",
    [
        "FALSE",
        "1 = 2",
        "a = 1 AND NOT a = 1",
        "S_INTERSECTS(geometry, POINT(1 2)) AND S_DISJOINT(geometry, POINT(1 2))",
        "S_TOUCHES(geometry, geometry)",
        "S_INTERSECTS(POINT(1 2), POINT(3 4))",
        "geometry IS NULL",
        "5 NOT IN (4, 5)",
        "3 BETWEEN 4 AND 5",
        "'abc' LIKE 'b%'",
        "T_BEFORE(DATE('2020-01-01'), TIMESTAMP('2020-01-01T12:00:00Z'))",
        "A_OVERLAPS((1, 2), ('1', '2'))",
        "(a IS NULL) IS NULL",
        "S_WITHIN(geometry, POINT(1 2)) IS NULL",
    ],
)
def test_what_can_never_hold_has_no_filter(text: str) -> None:
    assert normalise(text) == NormalForm(())
    assert normalise(to_text(NormalForm(()))) == NormalForm(())
    assert normalise(to_json(NormalForm(()))) == NormalForm(())


@pytest.mark.parametrize("text", ["TRUE", "NOT 1 > 2", "S_EQUALS(geometry, geometry)", "a OR TRUE"])
def test_what_always_holds_has_one_empty_filter(text: str) -> None:
    always = NormalForm((Filter((), ()),))
    assert normalise(text) == always
    assert normalise(to_text(always)) == always
    assert normalise(to_json(always)) == always


def test_large_integers_stay_exact() -> None:
    assert normalise("a = " + "0" * 5_000 + "7") == normalise("a = 7")
    assert normalise("a = 9007199254740993") != normalise("a = 9007199254740992")
    assert to_text(normalise("a = 123456789012345678901")) == "a = 123456789012345678901"


@pytest.mark.parametrize(
    "name", ["a", "a.b", "eo:cloud", "_x", "été", "two words", 'quo"te', "AND", "div", "1st", ""]
)
def test_property_names_survive(name: str) -> None:
    form = normalise({"op": "=", "args": [{"property": name}, 1]})
    assert normalise(to_text(form)) == form


@pytest.mark.parametrize(
    "value", ["", "it's", "back\\slash", "\\", "\\'", "tab\t", "line\n", "%_\\%"]
)
def test_strings_survive(value: str) -> None:
    form = normalise({"op": "=", "args": [{"property": "a"}, value]})
    assert normalise(to_text(form)) == form


def test_escapes_in_strings() -> None:
    form = normalise({"op": "=", "args": [{"property": "a"}, "\a\b\t\n\v\f\r'\\x"]})
    assert normalise(r"a = '\a\b\t\n\v\f\r\'\\x'") == form


@pytest.mark.parametrize(
    "text", ["a > 1", "NOT (a LIKE 'x%')", "(a = 1) IS NULL", "NOT (a IS NULL)", "T_AFTER(a, b)"]
)
def test_a_constraint_survives_json(text: str) -> None:
    ((constraint,),) = (item.attributes for item in normalise(text).filters)
    assert constraint_from_json(constraint_to_json(constraint)) == constraint


@pytest.mark.parametrize("text", ["true", '{"op":"and","args":[true,true]}'])
def test_only_a_constraint_is_read_as_one(text: str) -> None:
    with pytest.raises(FilterSyntaxError, match="not a single attribute constraint"):
        constraint_from_json(text)


def test_a_long_chain_is_no_nesting() -> None:
    text = " AND ".join(f"a <> {i}" for i in range(20_000))
    (item,) = normalise(text).filters
    assert len(item.attributes) == 20_000
