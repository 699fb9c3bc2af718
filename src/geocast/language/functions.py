"""The functions of CQL2 by name, for the readers of text and of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from geocast.errors import FilterSyntaxError, FilterTypeError
from geocast.language import build, build_time, geometry
from geocast.language.relations import ARRAY, SPATIAL, TEMPORAL
from geocast.language.tree import FoldName, Number
from geocast.language.where import Located, Where, refuse

__all__ = ["bbox", "call"]

_FOLDS = {name.value: name for name in FoldName}
_CONSTRUCTORS = {"date": 1, "timestamp": 1, "interval": 2, "bbox": 4}
_ARITY = {
    **dict.fromkeys((*SPATIAL, *TEMPORAL, *ARRAY), 2),
    **dict.fromkeys(_FOLDS, 1),
    **_CONSTRUCTORS,
}


def call(name: str, arguments: Sequence[Located], where: Where) -> Located:
    """Build a call of a function; unknown names and wrong numbers of arguments are refused."""
    key = name.lower()
    if key not in _ARITY:
        near = get_close_matches(key, _ARITY, 1)
        hint = f"; did you mean {near[0].upper()}?" if near else ""
        refuse(FilterSyntaxError, f"unknown function {name!r}{hint}", where)
    if key == "bbox":
        return bbox(arguments, where)
    if len(arguments) != _ARITY[key]:
        expected = "1 argument" if _ARITY[key] == 1 else f"{_ARITY[key]} arguments"
        reason = f"{name.upper()} takes {expected}, not {len(arguments)}"
        refuse(FilterSyntaxError, reason, where)
    return _checked_call(key, arguments, where)


def _checked_call(key: str, arguments: Sequence[Located], where: Where) -> Located:
    first, last = arguments[0], arguments[-1]
    if key in SPATIAL:
        return build.spatial(SPATIAL[key], first, last)
    if key in TEMPORAL:
        return build_time.temporal(key, first, last)
    if key in ARRAY:
        return build_time.array_relation(key, first, last)
    if key in _FOLDS:
        return build.string_fold(_FOLDS[key], first, where)
    if key == "interval":
        return build_time.interval(first, last, where)
    return (build_time.date if key == "date" else build_time.timestamp)(first, where)


def bbox(arguments: Sequence[Located], where: Where) -> Located:
    """Build the box of four or six number literals."""
    numbers: list[int | float] = []
    for part in arguments:
        if not isinstance(part.node, Number):
            refuse(FilterTypeError, "BBOX takes numbers only", part.where)
        numbers.append(part.node.value)
    return Located(geometry.from_bounds(numbers, where), where)
