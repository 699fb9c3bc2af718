"""CQL2 in, normal form out.

`normalise` reads an expression, text or JSON, and returns its normal form: a disjunction of
filters, each a conjunction of spatial and attribute constraints. What is not CQL2, or cannot
be matched, is refused with its place and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geocast.language.form import AttributeConstraint, Filter, NormalForm, SpatialConstraint
from geocast.language.normal import MAX_FILTERS, normal_form
from geocast.language.read_json import parse_json, parse_json_text
from geocast.language.read_text import parse_text
from geocast.language.tree import Expression
from geocast.language.where import MAX_DEPTH
from geocast.language.write_json import constraint_from_json, constraint_to_json, to_json
from geocast.language.write_text import to_text

__all__ = [
    "MAX_DEPTH",
    "MAX_FILTERS",
    "AttributeConstraint",
    "Expression",
    "Filter",
    "NormalForm",
    "SpatialConstraint",
    "constraint_from_json",
    "constraint_to_json",
    "normalise",
    "to_json",
    "to_text",
]


def normalise(expression: str | Mapping[str, Any]) -> NormalForm:
    """Return the normal form of a CQL2 expression.

    A string is CQL2 text, or CQL2 JSON where it begins with a brace; a mapping is CQL2 JSON.
    Raises a LanguageError: FilterSyntaxError, FilterTypeError or FilterLimitError, with the
    position in the text or the path in the JSON.
    """
    if isinstance(expression, Mapping):
        return normal_form(parse_json(expression), "$")
    if expression.lstrip().startswith("{"):
        return normal_form(parse_json_text(expression), "$")
    return normal_form(parse_text(expression), 0)
