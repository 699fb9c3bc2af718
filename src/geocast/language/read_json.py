"""CQL2 JSON to the expression tree."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from geocast.errors import FilterSyntaxError, FilterTypeError
from geocast.language import build
from geocast.language.build_time import array
from geocast.language.functions import call
from geocast.language.geometry import from_geojson
from geocast.language.relations import ARITHMETIC, COMPARISONS
from geocast.language.tree import Boolean, Condition
from geocast.language.where import MAX_DEPTH, Located, refuse, refuse_depth

__all__ = ["parse_json", "parse_json_text"]

_LEAF_LEVELS = 3  # a predicate, its list of items and their operands are no nesting
_MARKERS = ("op", "property", "date", "timestamp", "interval", "bbox", "type")


def parse_json(value: Mapping[str, Any]) -> Condition:
    """Read CQL2 JSON; raises a LanguageError with the path of what is wrong."""
    return build.condition(_read(value, "$", 0))


def parse_json_text(text: str) -> Condition:
    """Read CQL2 JSON that comes as a text."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as problem:
        raise FilterSyntaxError(f"not JSON: {problem.msg}", position=problem.pos) from None
    except ValueError:
        raise FilterTypeError("a number has too many digits", path="$") from None
    except RecursionError:
        refuse_depth("$")
    return build.condition(_read(value, "$", 0))


def _read(value: Any, path: str, depth: int) -> Located:
    if depth > MAX_DEPTH + _LEAF_LEVELS:
        refuse_depth(path)
    match value:
        case bool():
            return Located(Boolean(value), path)
        case int() | float():
            return build.number(value, path)
        case str():
            return build.text(value, path)
        case Mapping():
            return _read_object(value, path, depth)
        case list() | tuple():
            return array(_read_all(value, path, depth), path)
    what = "null can only be asked for by isNull" if value is None else "not a CQL2 value"
    return refuse(FilterSyntaxError, what, path)


def _read_all(values: Any, path: str, depth: int) -> list[Located]:
    if not isinstance(values, list | tuple):
        refuse(FilterSyntaxError, "a list is needed here", path)
    return [_read(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(values)]


def _read_object(value: Mapping[str, Any], path: str, depth: int) -> Located:
    marker = next((name for name in _MARKERS if name in value), None)
    if marker is None:
        refuse(FilterSyntaxError, "an object needs 'op', 'property' or a literal", path)
    content, inner = value[marker], f"{path}.{marker}"
    if marker == "op":
        return _read_operation(value, path, depth)
    if marker == "property":
        return build.named(_string(content, inner), path)
    if marker == "type":
        return Located(from_geojson(value, path), path)
    if marker in ("interval", "bbox"):
        return call(marker, _read_all(content, inner, depth), path)
    return call(marker, [build.text(_string(content, inner), inner)], path)


def _string(value: Any, path: str) -> str:
    if not isinstance(value, str):
        refuse(FilterSyntaxError, "a string is needed here", path)
    return value


def _read_operation(value: Mapping[str, Any], path: str, depth: int) -> Located:
    name, arguments = _string(value["op"], f"{path}.op"), value.get("args")
    op = name.lower()
    inner = f"{path}.args"
    if not isinstance(arguments, list | tuple):
        refuse(FilterSyntaxError, f"{op!r} needs a list of 'args'", path)
    if op == "in":
        result = _read_membership(arguments, inner, depth)
    elif op in _OPERATORS:
        least, most, make = _OPERATORS[op]
        _check_count(op, arguments, least, most, inner)
        result = make(op, _read_all(arguments, inner, depth), path)
    else:
        result = call(name, _read_all(arguments, inner, depth), path)
    return replace(result, where=path)


def _check_count(op: str, arguments: Sequence[Any], least: int, most: int, path: str) -> None:
    if not least <= len(arguments) <= (most or len(arguments)):
        expected = f"{least}" if most else f"at least {least}"
        reason = f"{op!r} takes {expected} arguments, not {len(arguments)}"
        refuse(FilterSyntaxError, reason, path)


def _read_membership(arguments: Sequence[Any], path: str, depth: int) -> Located:
    _check_count("in", arguments, 2, 2, path)
    value = _read(arguments[0], f"{path}[0]", depth + 1)
    inner = f"{path}[1]"
    return build.membership(value, _read_all(arguments[1], inner, depth + 1), inner)


_Maker = Callable[[str, Sequence[Located], str], Located]
_OPERATORS: dict[str, tuple[int, int, _Maker]] = {
    "and": (2, 0, lambda op, args, path: build.conjunction(args)),
    "or": (2, 0, lambda op, args, path: build.disjunction(args)),
    "not": (1, 1, lambda op, args, path: build.negation(args[0], path)),
    "isnull": (1, 1, lambda op, args, path: build.is_null(args[0])),
    "like": (2, 2, lambda op, args, path: build.like(*args)),
    "between": (3, 3, lambda op, args, path: build.between(*args)),
    **dict.fromkeys(COMPARISONS, (2, 2, lambda op, args, path: build.comparison(op, *args))),
    **dict.fromkeys(ARITHMETIC, (2, 2, lambda op, args, path: build.arithmetic(op, *args))),
}
